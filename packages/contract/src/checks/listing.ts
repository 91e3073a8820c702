import type { ListEndpointName } from '@actlog/protocol';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { listed, type WalkOptions } from '../world/list-walk.ts';

/**
 * Fails unless a list contains every id once writes have settled. Skips if the list is longer than the page limit of
 * the run, because the order of lists is not specified.
 */
export async function expectListed(
  run: Run,
  endpoint: ListEndpointName,
  ids: readonly string[],
  options: WalkOptions = {},
): Promise<void> {
  const isShown = (items: readonly unknown[]) => ids.every((id) => items.some((item) => holds(item, id)));
  const walk = await run.eventually(
    () => listed(run, endpoint, { ...options, until: isShown }),
    ({ items, ended }) => isShown(items) || !ended,
  );
  if (isShown(walk.items)) return;
  if (!walk.ended && !walk.repeatsCursor && !walk.refused)
    skip(`the list is longer than ${walk.pages.length} pages (--max-pages)`);
  const missing = ids.filter((id) => !walk.items.some((item) => holds(item, id)));
  fail(`${missing.length} of ${ids.length} ids are missing from the list: ${missing.join(', ')}`);
}
