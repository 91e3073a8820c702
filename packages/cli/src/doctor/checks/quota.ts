import { type Check, found, ok, skipped } from '../check.ts';
import { known } from '../known.ts';
import { readTenantLimits, type TenantLimits } from '../tenant-limits.ts';

/** Share of a quota from which on it is reported. */
const nearly = 0.8;
/** Quotas without which nothing is recorded. */
const recording: readonly string[] = ['eventsPerMonth', 'checksPerMonth', 'sessions', 'agents'];

/** Check of the quotas of the tenant, where the service shows them. */
export const quota: Check = {
  id: 'quota',
  title: 'Quota, retention',
  requires: ['key'],
  async run({ client }) {
    const limits = await readTenantLimits(known(client));
    if (!limits) return skipped('the service does not show them to this key');
    const problems = Object.entries(limits.quotas).flatMap(([name, { used, max }]) => {
      if (max === null || used < max * nearly) return [];
      // A quota of 0 on policies or webhooks is meant.
      if (max === 0 && !recording.includes(name)) return [];
      const code = used >= max ? 'quota-used-up' : 'quota-nearly-used-up';
      return [found(code, { quota: name, used, max })];
    });
    return problems.length > 0 ? problems : ok(`no quota is nearly used up; ${retentionOf(limits)}`);
  },
};

function retentionOf({ retentionDays }: TenantLimits): string {
  return typeof retentionDays === 'number'
    ? `sessions are kept for ${retentionDays} days`
    : 'sessions are kept without a limit';
}
