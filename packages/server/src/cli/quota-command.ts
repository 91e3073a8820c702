import { Command } from 'commander';
import { type QuotaName, quotaNames } from '../quota/quota.ts';
import { administer, numberOr, print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

const unbounded = 'unlimited';

/** `quota`: how much a tenant may store. */
export function quotaCommand(): Command {
  const quota = new Command('quota').description('bound what a tenant may store');
  tenantCommand(quota, 'set', `set one of ${quotaNames.join(', ')} to a whole number, or "${unbounded}"`)
    .argument('<name>')
    .argument('<max>', `whole number, or "${unbounded}"`, numberOr(unbounded))
    .action((name: string, max: number | null, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.setQuota(tenant, { [name as QuotaName]: max })),
    );
  tenantCommand(quota, 'list', 'list the quotas of a tenant, and how much of each is used').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const [name, { used, max }] of Object.entries(await admin.quota(tenant))) {
          print(`${name}\tused ${used}\tof ${max ?? unbounded}`);
        }
      }),
  );
  return quota;
}
