import type { Scope } from '@actlog/protocol';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { StoredKey } from '../storage/stores/key-store.ts';
import { keyAgents } from '../tenants/key-options.ts';
import { keyEndMs } from '../tenants/lifetime.ts';
import { allScopes } from '../tenants/provisioning.ts';
import { requireSingleLineName } from '../tenants/single-line-name.ts';
import { administer, parseNumber, print, type TenantFlags, tenantCommand } from './administer.ts';

function formatTime(timeMs: number | null): string {
  return timeMs === null ? 'never' : new Date(timeMs).toISOString();
}

function agentsText({ agents, shared }: StoredKey): string {
  return `agents ${agents?.join(',') ?? 'any'}${shared ? ' shared' : ''}`;
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
    .option('--expires-in-days <days>', 'days until it expires; never by default', parseNumber)
    .action(
      (
        name: string,
        flags: TenantFlags & {
          kind: 'live' | 'test';
          scopes?: Scope[];
          agents?: string[];
          shared?: boolean;
          expiresInDays?: number;
        },
      ) => {
        const { database, tenant, ...options } = flags;
        // Validated before a database or a tenant is created for the key.
        requireSingleLineName('tenant', tenant);
        requireSingleLineName('key', name);
        keyEndMs(options.expiresInDays);
        return administer(
          database,
          async (admin) => {
            await admin.tenants.create(tenant);
            print((await admin.keys.create(tenant, { name, ...options })).apiKey);
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
