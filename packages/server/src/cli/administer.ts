import type { Scope } from '@actlog/protocol';
import { Command, InvalidArgumentError, Option } from 'commander';
import { keyEndMs } from '../keys/lifetime.ts';
import { allScopes } from '../keys/provisioning.ts';
import { requireShownName } from '../keys/shown-name.ts';
import { backUp } from '../storage/backup.ts';
import type { StoredKey } from '../storage/key-store.ts';
import { sessionsCommand, tenantsCommand } from './deletion-commands.ts';
import { quotaCommand } from './quota-command.ts';
import { tagsCommand } from './tags-command.ts';
import {
  administer,
  databaseOption,
  number,
  numberOr,
  print,
  requireDatabase,
  type TenantFlags,
  tenantCommand,
  tenantOption,
} from './tenant-flags.ts';
import { webhooksCommand } from './webhooks-command.ts';

function time(timeMs: number | null): string {
  return timeMs === null ? 'never' : new Date(timeMs).toISOString();
}

function keyLine({ id, kind, name, scopes, expiresMs, lastUsedMs }: StoredKey): string {
  return [id, kind, name, scopes.join(','), `ends ${time(expiresMs)}`, `used ${time(lastUsedMs)}`].join('\t');
}

function scopeList(text: string): Scope[] {
  const scopes = text.split(',') as Scope[];
  const unknown = scopes.find((scope) => !allScopes.includes(scope));
  if (unknown === undefined) return scopes;
  throw new InvalidArgumentError(`There is no scope "${unknown}"; there are: ${allScopes.join(', ')}.`);
}

function keysCommand(): Command {
  const keys = new Command('keys').description('make, list, rotate and revoke API keys');
  tenantCommand(keys, 'create <name>', 'make a key; it is shown this once')
    .addOption(new Option('--kind <kind>', 'what it is for').choices(['live', 'test']).default('live'))
    .option('--scopes <scopes>', `of ${allScopes.join(',')}; all by default`, scopeList)
    .option('--expires-in-days <days>', 'days until it ends', number)
    .action(
      (
        name: string,
        flags: TenantFlags & { kind: 'live' | 'test'; scopes?: Scope[]; expiresInDays?: number },
      ) => {
        const { database, tenant, ...options } = flags;
        // Before a database or a tenant is made for a key that cannot be.
        requireShownName('tenant', tenant);
        requireShownName('key', name);
        keyEndMs(options.expiresInDays);
        return administer(
          database,
          async (admin) => {
            await admin.createTenant(tenant);
            print((await admin.createKey(tenant, { name, ...options })).apiKey);
          },
          { makes: true },
        );
      },
    );
  tenantCommand(keys, 'list', 'list the keys of a tenant').action(({ database, tenant }: TenantFlags) =>
    administer(database, async (admin) => {
      for (const key of await admin.keys(tenant)) print(keyLine(key));
    }),
  );
  tenantCommand(keys, 'rotate <id>', 'make a key that takes the place of another')
    .option('--overlap-days <days>', 'days that the old key is still taken, 0 to 7', number, 1)
    .option('--expires-in-days <days>', 'days until the new key ends; never by default', number)
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

/** The commands that work on a database beside the server. */
export function administrationCommands(): Command[] {
  const learn = new Command('learn')
    .description(
      'hold later sessions of an agent against one that scored high too, because a person found it to be usual work',
    )
    .argument('<session>', 'its id, half an hour after its last event at the earliest')
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action((session: string, { database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        const isKept = await admin.learnSession(tenant, session);
        print(
          isKept ? 'learned' : 'not kept: it has no call, or the sample of past sessions has no place for it',
        );
      }),
    );
  const retention = new Command('retention')
    .description('keep sessions so many days after their last event, or "forever"')
    .argument('<days>', 'days, or "forever"', numberOr('forever'))
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
      'bring the tables up to date, before servers of a new release start or for those whose role may not',
    )
    .addOption(databaseOption())
    .action(({ database }: { database: string }) =>
      administer(database, () => undefined, { makes: true, needsPartitions: true }),
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
