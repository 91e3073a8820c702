import type { LegalHold, Scope } from '@actlog/protocol';
import { type ToolTag, toolTags } from '@actlog/risk';
import { Command, InvalidArgumentError, Option } from 'commander';
import { configured, type ServerOptions } from '../configuration.ts';
import type { ListedWebhook } from '../resources/notification-channels.ts';
import type { DeliveryRow } from '../storage/stores/delivery-store.ts';
import type { StoredKey } from '../storage/stores/key-store.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { type QuotaName, quotaDefinition, quotaNames } from '../storage/stores/quota-table.ts';
import { keyAgents } from '../tenants/key-options.ts';
import { keyEndMs } from '../tenants/lifetime.ts';
import { allScopes } from '../tenants/provisioning.ts';
import { requireSingleLineName } from '../tenants/single-line-name.ts';
import {
  administer,
  databaseOption,
  parseNumber,
  parseNumberOr,
  print,
  type TenantFlags,
  tenantCommand,
} from './administer.ts';

/** Description of the option of deletions. */
const erasureText =
  'also erase records before their retention floor, for this reason, which the log keeps: name no person';

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
    .option('--erasure <reason>', erasureText)
    .action((name: string, { database, yes, erasure }: { database: string; yes?: true; erasure?: string }) =>
      administer(database, async (admin) => {
        if (yes) return admin.tenants.delete(name, { erasure });
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
    .option('--erasure <reason>', erasureText)
    .action((id: string, { database, tenant, erasure }: TenantFlags & { erasure?: string }) =>
      administer(database, (admin) => admin.sessions.delete(tenant, id, { erasure })),
    );
}

function formatTime(timeMs: number | null): string {
  return timeMs === null ? 'never' : new Date(timeMs).toISOString();
}

function agentsText({ agents, shared, requiresIdentity }: StoredKey): string {
  const facts = [...(shared ? ['shared'] : []), ...(requiresIdentity ? ['verified only'] : [])];
  return [`agents ${agents?.join(',') ?? 'any'}`, ...facts].join(' ');
}

function keyLine(key: StoredKey): string {
  const { id, kind, name, scopes, expiresMs, lastUsedMs } = key;
  return [
    id,
    kind,
    name,
    scopes.join(','),
    agentsText(key),
    `ends ${formatTime(expiresMs)}`,
    `used ${formatTime(lastUsedMs)}`,
  ].join('\t');
}

function scopeList(text: string): Scope[] {
  const scopes = text.split(',') as Scope[];
  const unknown = scopes.find((scope) => !allScopes.includes(scope));
  if (unknown === undefined) return scopes;
  throw new InvalidArgumentError(`There is no scope "${unknown}"; the scopes are: ${allScopes.join(', ')}.`);
}

/** Parses the patterns of agents, separated by commas. No agent of a pattern can have a comma in its id. */
function agentList(text: string): string[] {
  const { data, error } = keyAgents.safeParse(text.split(','));
  if (data) return data;
  const { path, message } = error.issues[0] as { path: PropertyKey[]; message: string };
  const which = path.length === 0 ? 'The list' : `The agent ${Number(path[0]) + 1} of the list`;
  throw new InvalidArgumentError(`${which} ${message}.`);
}

/** Returns the command `keys`, which creates, lists, rotates and revokes API keys. */
export function keysCommand(): Command {
  const keys = new Command('keys').description('create, list, rotate and revoke API keys');
  tenantCommand(keys, 'create <name>', 'create a key, which is shown only once')
    .addOption(new Option('--kind <kind>', 'kind of the key').choices(['live', 'test']).default('live'))
    .option('--scopes <scopes>', `comma-separated, of ${allScopes.join(',')}; all by default`, scopeList)
    .option(
      '--agents <agents>',
      'comma-separated agents that it may act as, with * for any characters; any by default',
      agentList,
    )
    .option('--shared', 'several agents share it: revoking one does not stop the others')
    .option('--require-identity', 'its events and checks need a token that verifies their agent')
    .option('--expires-in-days <days>', 'days until it expires; never by default', parseNumber)
    .action(
      (
        name: string,
        flags: TenantFlags & {
          kind: 'live' | 'test';
          scopes?: Scope[];
          agents?: string[];
          shared?: boolean;
          requireIdentity?: boolean;
          expiresInDays?: number;
        },
      ) => {
        const { database, tenant, requireIdentity: requiresIdentity, ...options } = flags;
        // Validated before a database or a tenant is created for the key.
        requireSingleLineName('tenant', tenant);
        requireSingleLineName('key', name);
        keyEndMs(options.expiresInDays);
        return administer(
          database,
          async (admin) => {
            await admin.tenants.create(tenant);
            print((await admin.keys.create(tenant, { name, ...options, requiresIdentity })).apiKey);
          },
          { createsFile: true },
        );
      },
    );
  tenantCommand(keys, 'list', 'list the keys of a tenant').action(({ database, tenant }: TenantFlags) =>
    administer(database, async (admin) => {
      for (const key of await admin.keys.list(tenant)) print(keyLine(key));
    }),
  );
  tenantCommand(keys, 'rotate <id>', 'replace a key by a new one')
    .option('--overlap-days <days>', 'days for which the old key remains valid, 0 to 7', parseNumber, 1)
    .option('--expires-in-days <days>', 'days until the new key expires; never by default', parseNumber)
    .action((id: string, flags: TenantFlags & { overlapDays: number; expiresInDays?: number }) =>
      administer(flags.database, async (admin) => {
        const { tenant, overlapDays, expiresInDays } = flags;
        print((await admin.keys.rotate(tenant, id, overlapDays, expiresInDays)).apiKey);
      }),
    );
  tenantCommand(keys, 'revoke <id>', 'end a key at once').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.keys.revoke(tenant, id)),
  );
  return keys;
}

function channelLine({ id, status, url, events, failureCount: failures }: ListedWebhook): string {
  return [id, status, url, events.join(','), `${failures} failures in a row`].join('\t');
}

function deliveryLine({ id, event_type: type, status, attempts, ...row }: DeliveryRow): string {
  const outcome =
    row.last_error ?? (row.last_status === null ? 'not attempted' : `responded with ${row.last_status}`);
  return [id, new Date(row.created_ms).toISOString(), type, status, `${attempts} attempts`, outcome].join(
    '\t',
  );
}

/** Returns the command `webhooks`, which manages webhooks and their deliveries. */
export function webhooksCommand(): Command {
  const webhooks = new Command('webhooks').description(
    'list, disable and enable webhooks, rotate their secrets and replay messages',
  );
  tenantCommand(webhooks, 'list', 'list the webhooks of a tenant').action(
    ({ database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const channel of await admin.webhooks.list(tenant)) print(channelLine(channel));
      }),
  );
  tenantCommand(webhooks, 'disable <id>', 'disable a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.webhooks.disable(tenant, id)),
  );
  tenantCommand(webhooks, 'enable <id>', 'enable a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.webhooks.enable(tenant, id)),
  );
  tenantCommand(webhooks, 'rotate <id>', 'replace the secret of a webhook; the new one is shown only once')
    .option(
      '--overlap-days <days>',
      'days for which messages are also signed with the old one, 0 to 7',
      parseNumber,
      1,
    )
    .action((id: string, { database, tenant, overlapDays }: TenantFlags & { overlapDays: number }) =>
      administer(database, async (admin) =>
        print(await admin.webhooks.rotateSecret(tenant, id, overlapDays)),
      ),
    );
  tenantCommand(webhooks, 'deliveries <id>', 'list the last messages to a webhook').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        for (const delivery of await admin.webhooks.deliveries(tenant, id)) print(deliveryLine(delivery));
      }),
  );
  tenantCommand(webhooks, 'replay <delivery>', 'send a message again').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.webhooks.replay(tenant, id)),
  );
  return webhooks;
}

function holdLine(hold: LegalHold): string {
  const { id, name, agentId, sessionId, since, until, createdAt, releasedAt } = hold;
  const scope = [
    ...(agentId === null ? [] : [`agent ${agentId}`]),
    ...(sessionId === null ? [] : [`session ${sessionId}`]),
    ...(since === null ? [] : [`since ${since}`]),
    ...(until === null ? [] : [`until ${until}`]),
  ];
  return [
    id,
    name,
    scope.join(' ') || 'everything',
    `placed ${createdAt}`,
    releasedAt === null ? 'in force' : `released ${releasedAt}`,
  ].join('\t');
}

/** Parses a time or a date in ISO 8601. */
function parseTime(text: string): string {
  const time = /^\d{4}-\d{2}-\d{2}(T.*)?$/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError(
    'It must be a date or a time in ISO 8601, such as 2026-11-01 or 2026-11-01T12:00:00Z.',
  );
}

/** Returns the command `legal-holds`, which places, lists and releases legal holds. */
export function legalHoldsCommand(): Command {
  const holds = new Command('legal-holds').description(
    'place, list and release legal holds: nothing that one covers is deleted, by anyone, until it is released',
  );
  tenantCommand(holds, 'create <name>', 'place a legal hold on everything, or on what all options name')
    .option('--agent <id>', 'records of sessions in which this agent took part')
    .option('--session <id>', 'records of this session')
    .option('--since <time>', 'records from this time on: a date or a time in ISO 8601', parseTime)
    .option('--until <time>', 'records before this time', parseTime)
    .action(
      (
        name: string,
        {
          database,
          tenant,
          agent,
          session,
          since,
          until,
        }: TenantFlags & Partial<Record<'agent' | 'session' | 'since' | 'until', string>>,
      ) =>
        administer(database, async (admin) => {
          const scope = { agentId: agent, sessionId: session, since, until };
          print((await admin.legalHolds.create(tenant, { name, ...scope })).id);
        }),
    );
  tenantCommand(holds, 'list', 'list the legal holds of a tenant, newest first')
    .option('--all', 'also those that were released')
    .action(({ database, tenant, all }: TenantFlags & { all?: true }) =>
      administer(database, async (admin) => {
        for (const hold of await admin.legalHolds.list(tenant)) {
          if (all || hold.releasedAt === null) print(holdLine(hold));
        }
      }),
    );
  tenantCommand(
    holds,
    'release <id>',
    'release a legal hold; retention may delete what it covered from then on',
  ).action((id: string, { database, tenant }: TenantFlags) =>
    administer(database, async (admin) => {
      await admin.legalHolds.release(tenant, id);
    }),
  );
  return holds;
}
