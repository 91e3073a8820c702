import type { ComponentChildren } from 'preact';
import type { Shown } from '../hooks/use-list.ts';
import { Problem } from './problem.tsx';
import { ShowMore } from './show-more.tsx';

/** Log of loaded entries, newest first, with a text for an empty one and a button to load more. */
export function LogList<Item>({
  shown,
  label,
  empty,
  item,
}: {
  shown: Shown<Item>;
  /** Name of the list for screen readers. */
  label: string;
  empty: string;
  item: (entry: Item) => ComponentChildren;
}) {
  const { items, error, reload } = shown;
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {items === undefined && error === undefined && <p class="faint">Loading…</p>}
      {items?.length === 0 && <p class="empty">{empty}</p>}
      {items !== undefined && items.length > 0 && (
        <ol class="log" aria-label={label}>
          {items.map(item)}
        </ol>
      )}
      <ShowMore {...shown} />
    </>
  );
}
