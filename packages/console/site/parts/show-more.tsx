import type { Shown } from '../use-list.ts';

/** A button that shows a page more, where there is one. */
export function ShowMore({ hasMore, more }: Pick<Shown<unknown>, 'hasMore' | 'more'>) {
  if (!hasMore) return null;
  return (
    <button type="button" onClick={more}>
      Show more
    </button>
  );
}
