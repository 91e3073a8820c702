import type { Shown } from '../hooks/use-list.ts';

/** Button that loads another page, if there is one. */
export function ShowMore({ hasMore, more }: Pick<Shown<unknown>, 'hasMore' | 'more'>) {
  if (!hasMore) return null;
  return (
    <button type="button" onClick={more}>
      Show more
    </button>
  );
}
