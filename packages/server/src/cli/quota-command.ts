import { Command } from 'commander';
import { type QuotaName, quotaNames } from '../quota/quota.ts';
import {
  administer,
  databaseOption,
  numberOr,
  print,
  type TenantFlags,
  tenantOption,
} from './tenant-flags.ts';

const unbounded = 'unlimited';

/** `quota`: how much a tenant may store. */
export function quotaCommand(): Command {
  const quota = new Command('quota').description('bound what a tenant may store');
  quota
    .command('set')
    .description(`set one of ${quotaNames.join(', ')} to a whole number, or "${unbounded}"`)
    .argument('<name>')
    .argument('<max>', `whole number, or "${unbounded}"`, numberOr(unbounded))
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action((name: string, max: number | null, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.setQuota(tenant, { [name as QuotaName]: max })),
    );
  quota
    .command('list')
    .description('list the quotas of a tenant, and how much of each is used')
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action(({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const [name, { used, max }] of Object.entries(await admin.quota(tenant))) {
          print(`${name}\tused ${used}\tof ${max ?? unbounded}`);
        }
      }),
    );
  return quota;
}
