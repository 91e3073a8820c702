import type { IconNode } from 'lucide';
import ArrowLeft from 'lucide/dist/esm/icons/arrow-left.mjs';
import type { ComponentChildren } from 'preact';
import type { Shown } from '../hooks/use-list.ts';
import { useVisit } from '../hooks/visit.ts';
import { href, parseRoute } from '../route.ts';
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

/** Text for screen readers while a part of the page loads, and blocks that keep its room. */
export function Loading({
  rows = 6,
}: {
  /** Number of blocks, each as high as a row of a table. Default: 6. */
  rows?: number;
}) {
  return (
    <div class="skeleton">
      <p class="hidden">Loading…</p>
      {Array.from({ length: rows }, (_, row) => (
        <span key={row} />
      ))}
    </div>
  );
}

/** Button that loads another page, if there is one. */
export function ShowMore({ hasMore, more }: Pick<Shown<unknown>, 'hasMore' | 'more'>) {
  if (!hasMore) return null;
  return (
    <button type="button" onClick={more}>
      Show more
    </button>
  );
}

/** Link back to the list, with its filters and scroll position if the user came from there. */
export function WayBack({ place, title }: { place: string; title: string }) {
  const { from } = useVisit();
  const [came = 'sessions', id] = parseRoute(from ?? '').path;
  const list = came === place && id === undefined ? from : undefined;
  return (
    <p class="way-back">
      <a
        href={list ?? href([place])}
        onClick={(event) => {
          const isPlain = !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
          if (list === undefined || !isPlain) return;
          event.preventDefault();
          history.back();
        }}
      >
        <Icon of={ArrowLeft} />
        {title}
      </a>
    </p>
  );
}
