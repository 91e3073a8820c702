import { Command, Option } from 'commander';
import {
  administer,
  databaseOption,
  parseNumberOr,
  print,
  requireDatabase,
  type TenantFlags,
  tenantOption,
} from './administer.ts';

/** Returns the command `learn`, which adds a confirmed session to the baseline of its agent. */
export function learnCommand(): Command {
  return new Command('learn')
    .description('learn from a session that scored high, because a person confirmed it as expected behavior')
    .argument('<session>', 'session id; at the earliest half an hour after its last event')
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action((session: string, { database, tenant }: TenantFlags) =>
      administer(database, async (admin) => {
        const isKept = await admin.sessions.learn(tenant, session);
        print(
          isKept
            ? 'learned'
            : 'not kept: it has no calls, or there is no room in the sample of past sessions',
        );
      }),
    );
}

/** Words instead of days. */
const forever = 'forever';
const deploymentDefault = 'default';

/** Returns the command `retention`, which sets and lists how long records are kept. */
export function retentionCommand(): Command {
  return new Command('retention')
    .description(
      'set the days for which sessions are kept after their last event, and other records after they were final; without days, list what is in force',
    )
    .argument(
      '[days]',
      `days, "${forever}", or "${deploymentDefault}" for the retention of the deployment`,
      (text) => (text === deploymentDefault ? deploymentDefault : parseNumberOr(forever)(text)),
    )
    .option('--decisions', 'set the retention of decisions (183 days by default), not that of sessions')
    .addOption(
      new Option(
        '--approvals',
        'set the retention of held actions (365 days by default), not that of sessions',
      ).conflicts('decisions'),
    )
    .addOption(
      new Option(
        '--audit',
        'set the retention of the audit log (365 days by default), not that of sessions',
      ).conflicts(['decisions', 'approvals']),
    )
    .addOption(databaseOption())
    .addOption(tenantOption())
    .action(
      (
        days: number | null | typeof deploymentDefault | undefined,
        flags: TenantFlags & { decisions?: true; approvals?: true; audit?: true },
      ) =>
        administer(flags.database, async ({ tenants }) => {
          if (days === undefined) {
            const { days: kept, floors } = await tenants.retention(flags.tenant);
            for (const name of Object.keys(kept) as (keyof typeof kept)[]) {
              print(`${name}\t${daysText(kept[name])}\tfloor ${floors[name]} days`);
            }
            return;
          }
          const name = (['decisions', 'approvals', 'audit'] as const).find((one) => flags[one]) ?? 'sessions';
          await tenants.setRetention(flags.tenant, { [name]: days });
        }),
    );
}

function daysText(days: number | null): string {
  return days === null ? forever : `${days} days`;
}

/** Returns the command `backup`, which copies an SQLite database. */
export function backupCommand(): Command {
  return new Command('backup')
    .description('copy the database into a new file while the server runs')
    .argument('<file>')
    .addOption(databaseOption())
    .action(async (file: string, { database }: { database: string }) => {
      requireDatabase(database);
      const { backUp } = await import('../storage/backup.ts');
      await backUp(database, file);
    });
}

/** Returns the command `migrate`, which applies database migrations. */
export function migrateCommand(): Command {
  return new Command('migrate')
    .description(
      'apply database migrations, before servers of a new release start or for servers whose role may not',
    )
    .addOption(databaseOption())
    .action(({ database }: { database: string }) =>
      administer(database, () => undefined, { createsFile: true }),
    );
}
