import { type ToolTag, toolTags } from '@actlog/risk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { configured, type ServerOptions } from '../configuration.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition, quotaNames } from '../storage/stores/quota-table.ts';
import {
  administer,
  databaseOption,
  parseNumberOr,
  print,
  type TenantFlags,
  tenantCommand,
} from './administer.ts';

/** Returns the command `tenants`, which lists and deletes tenants. */
export function tenantsCommand(): Command {
  const tenants = new Command('tenants').description(
    'list and delete tenants; a tenant is created with its first key',
  );
  tenants
    .command('list')
    .description('list the tenants by name')
    .addOption(databaseOption())
    .action(({ database }: { database: string }) =>
      administer(database, async (admin) => {
        for (const name of await admin.tenants.list()) print(name);
      }),
    );
  tenants
    .command('delete <name>')
    .description('delete a tenant permanently, with its keys, sessions, agents, policies and webhooks')
    .addOption(databaseOption())
    .option('--yes', 'delete; without it, only show what would be deleted')
    .action((name: string, { database, yes }: { database: string; yes?: true }) =>
      administer(database, async (admin) => {
        if (yes) return admin.tenants.delete(name);
        const { sessions, policies, channels } = await admin.tenants.quota(name);
        const keys = (await admin.keys.list(name)).length;
        throw new Error(
          `The tenant "${name}" has ${sessions.used} sessions, ${keys} keys, ${policies.used} active policies and ${channels.used} active webhooks. Add --yes to delete it with all of them permanently.`,
        );
      }),
    );
  return tenants;
}

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

/** Arguments instead of tags: the tool has none, or is classified by name again. */
const none = 'none';
const byName = 'default';

function parseTags(text: string): ToolTag[] | null {
  if (text === byName) return null;
  return text === none ? [] : (text.split(',') as ToolTag[]);
}

/** Returns the command `tags`, which sets and lists the corrected tags of a tenant's tools. */
export function tagsCommand(): Command {
  const tags = new Command('tags').description('correct how the risk engine classifies tools');
  tenantCommand(
    tags,
    'set <tool> <tags>',
    `set the tags of a tool to some of ${toolTags.join(',')}, or to "${none}"; "${byName}" classifies it by name again. Applies to sessions that begin from now on`,
  ).action((tool: string, text: string, { database, tenant }: TenantFlags) =>
    administer(database, (admin) => admin.toolTags.set(tenant, { [tool]: parseTags(text) })),
  );
  tenantCommand(tags, 'list', 'list the tools whose tags the tenant has corrected').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const [tool, names] of Object.entries(await admin.toolTags.list(tenant))) {
          print(`${tool}\t${names.join(',') || none}`);
        }
      }),
  );
  return tags;
}

/**
 * Adds the command `delete`, which deletes a session, to the command `sessions`. It asks nothing by itself: the option
 * `--yes` is for a caller that asks a person first.
 */
export function addSessionDelete(sessions: Command): Command {
  return tenantCommand(
    sessions,
    'delete <id>',
    'delete a session permanently: events, risk, held actions and the messages to webhooks about it',
  )
    .option('--yes', 'delete without a question')
    .action((id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.sessions.delete(tenant, id)),
    );
}
