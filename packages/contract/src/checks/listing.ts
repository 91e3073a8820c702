import type { ListEndpointName } from '@actlog/protocol';
import { holds } from '../http/json-search.ts';
import { fail, skip } from '../outcome.ts';
import type { Run } from '../run.ts';
import { listed, type WalkOptions } from '../world/list-walk.ts';

/**
 * Fails unless a list shows every id, once what was written has settled. Skips where the list is longer than a run
 * looks through: nothing says in which order lists come.
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
  fail(`the list lacks ${missing.length} of ${ids.length}: ${missing.join(', ')}`);
}
