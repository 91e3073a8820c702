import { type Check, found, ok, skipped } from '../check.ts';
import { known } from '../known.ts';
import { readTenantLimits } from '../tenant-limits.ts';

/** Check that the service understands the spans that it receives, where it counts those that it does not. */
export const spans: Check = {
  id: 'spans',
  title: 'Spans',
  requires: ['key'],
  async run({ client }) {
    const unread = (await readTenantLimits(known(client)))?.unreadSpans;
    if (!unread) return skipped('the service does not show them to this key');
    const problems = unread.map(({ scope, reason, count }) =>
      found(isRecorded(reason) ? 'spans-without-arguments' : 'spans-not-recorded', { scope, reason, count }),
    );
    return problems.length > 0 ? problems : ok('none that is not understood since the service started');
  },
};

/** Returns `true` for a reason for which an event lacks only the hash of its arguments. */
function isRecorded(reason: string): boolean {
  return reason.startsWith('arguments');
}
