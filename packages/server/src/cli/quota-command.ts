import { Command, InvalidArgumentError, Option } from 'commander';
import { configured, type ServerOptions } from '../configuration.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition, quotaNames } from '../storage/stores/quota-table.ts';
import { administer } from './administer.ts';
import { parseNumberOr, print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

const unbounded = 'unlimited';
const deploymentDefault = 'default';

/** Returns the option with the quotas of the deployment, in the format of the server's option. */
function quotasOption(): Option {
  return new Option('--quotas <json>', 'quotas of the deployment, as given to the server')
    .env('ACTLOG_QUOTAS')
    .argParser(deploymentQuotas);
}

function deploymentQuotas(text: string): DeploymentQuotas {
  if (text === '') return {};
  try {
    return configured({ quotas: JSON.parse(text) as ServerOptions['quotas'] }).quotas;
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message);
  }
}

/** Returns the command `quota`, which sets and lists the quotas of a tenant. */
export function quotaCommand(): Command {
  const quota = new Command('quota').description('set and list the quotas of a tenant');
  tenantCommand(
    quota,
    'set',
    `set one of ${quotaNames.join(', ')} to a whole number, "${unbounded}" or "${deploymentDefault}"`,
  )
    .argument('<name>')
    .argument('<max>', `whole number, "${unbounded}" or "${deploymentDefault}"`, (text: string) =>
      text === deploymentDefault ? deploymentDefault : parseNumberOr(unbounded)(text),
    )
    .action(
      (name: string, max: number | null | typeof deploymentDefault, { database, tenant }: TenantFlags) =>
        administer(database, (admin) => admin.tenants.setQuota(tenant, { [name as QuotaName]: max })),
    );
  tenantCommand(quota, 'list', 'list the quotas of a tenant, and how much of each is used')
    .addOption(quotasOption())
    .action(({ database, tenant, quotas }: TenantFlags & { quotas?: DeploymentQuotas }) =>
      administer(
        database,
        async (admin) => {
          for (const [name, { used, max }] of Object.entries(await admin.tenants.quota(tenant))) {
            const { unit } = quotaDefinition(name as QuotaName);
            print(`${name}\tused ${used}\tof ${max ?? unbounded}\t${unit}`);
          }
        },
        { quotas },
      ),
    );
  return quota;
}
