import type { Scope } from '@actlog/protocol';
import { Command, InvalidArgumentError, Option } from 'commander';
import { keyEndMs } from '../keys/lifetime.ts';
import { allScopes } from '../keys/provisioning.ts';
import { requireSingleLineName } from '../keys/single-line-name.ts';
import { backUp } from '../storage/backup.ts';
import type { StoredKey } from '../storage/stores/key-store.ts';
import { sessionsCommand, tenantsCommand } from './deletion-commands.ts';
import { quotaCommand } from './quota-command.ts';
import { tagsCommand } from './tags-command.ts';
import {
  administer,
  databaseOption,
  parseNumber,
  parseNumberOr,
  print,
  requireDatabase,
  type TenantFlags,
  tenantCommand,
  tenantOption,
} from './tenant-flags.ts';
import { webhooksCommand } from './webhooks-command.ts';

function formatTime(timeMs: number | null): string {
  return timeMs === null ? 'never' : new Date(timeMs).toISOString();
}

function keyLine({ id, kind, name, scopes, expiresMs, lastUsedMs }: StoredKey): string {
  return [
    id,
    kind,
    name,
    scopes.join(','),
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

function keysCommand(): Command {
  const keys = new Command('keys').description('create, list, rotate and revoke API keys');
  tenantCommand(keys, 'create <name>', 'create a key, which is shown only once')
    .addOption(new Option('--kind <kind>', 'kind of the key').choices(['live', 'test']).default('live'))
    .option('--scopes <scopes>', `comma-separated, of ${allScopes.join(',')}; all by default`, scopeList)
    .option('--expires-in-days <days>', 'days until it expires; never by default', parseNumber)
    .action(
      (
        name: string,
        flags: TenantFlags & { kind: 'live' | 'test'; scopes?: Scope[]; expiresInDays?: number },
      ) => {
        const { database, tenant, ...options } = flags;
        // Validated before a database or a tenant is created for the key.
        requireSingleLineName('tenant', tenant);
        requireSingleLineName('key', name);
        keyEndMs(options.expiresInDays);
        return administer(
          database,
          async (admin) => {
            await admin.createTenant(tenant);
            print((await admin.createKey(tenant, { name, ...options })).apiKey);
          },
          { createsFile: true },
        );
      },
    );
  tenantCommand(keys, 'list', 'list the keys of a tenant').action(({ database, tenant }: TenantFlags) =>
    administer(database, async (admin) => {
      for (const key of await admin.keys(tenant)) print(keyLine(key));
    }),
  );
  tenantCommand(keys, 'rotate <id>', 'replace a key by a new one')
    .option('--overlap-days <days>', 'days for which the old key remains valid, 0 to 7', parseNumber, 1)
    .option('--expires-in-days <days>', 'days until the new key expires; never by default', parseNumber)
    .action((id: string, flags: TenantFlags & { overlapDays: number; expiresInDays?: number }) =>
      administer(flags.database, async (admin) => {
        const { tenant, overlapDays, expiresInDays } = flags;
        print((await admin.rotateKey(tenant, id, overlapDays, expiresInDays)).apiKey);
      }),
    );
  tenantCommand(keys, 'revoke <id>', 'end a key at once').action(
    (id: string, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.revokeKey(tenant, id)),
  );
  return keys;
}

/** Returns the commands that work on the database, with or without a running server. */
export function administrationCommands(): Command[] {
  const learn = new Command('learn')
    .description('learn from a session that scored high, because a person confirmed it as expected behavior')
    .argument('<session>', 'session id; at the earliest half an hour after its last event')
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action((session: string, { database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        const isKept = await admin.learnSession(tenant, session);
        print(
          isKept
            ? 'learned'
            : 'not kept: it has no calls, or there is no room in the sample of past sessions',
        );
      }),
    );
  const retention = new Command('retention')
    .description('set the days for which sessions are kept after their last event')
    .argument('<days>', 'days, or "forever"', parseNumberOr('forever'))
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action((days: number | null, { database, tenant }: TenantFlags) =>
      administer(database, (admin) => admin.setRetention(tenant, days)),
    );
  const backup = new Command('backup')
    .description('copy the database into a new file while the server runs')
    .argument('<file>')
    .addOption(databaseOption())
    .action((file: string, { database }: { database: string }) => {
      requireDatabase(database);
      return backUp(database, file);
    });
  const migrate = new Command('migrate')
    .description(
      'apply database migrations, before servers of a new release start or for servers whose role may not',
    )
    .addOption(databaseOption())
    .action(({ database }: { database: string }) =>
      administer(database, () => undefined, { createsFile: true, needsPartitions: true }),
    );
  return [
    keysCommand(),
    tenantsCommand(),
    sessionsCommand(),
    tagsCommand(),
    learn,
    quotaCommand(),
    webhooksCommand(),
    retention,
    backup,
    migrate,
  ];
}
