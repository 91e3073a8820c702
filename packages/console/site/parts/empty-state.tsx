import type { IconNode } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Icon } from './icon.tsx';

/** Text in place of a list without items: what it will show, and how the first item comes about. */
export function EmptyState({
  icon,
  title,
  children,
}: {
  icon: IconNode;
  title: string;
  /** The way to the first item. */
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon of={icon} />
      <h2>{title}</h2>
      {children}
    </div>
  );
}
