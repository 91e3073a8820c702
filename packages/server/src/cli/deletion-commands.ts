import { Command } from 'commander';
import { administer, databaseOption, print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

/** `tenants`: which there are, and their end. */
export function tenantsCommand(): Command {
  const tenants = new Command('tenants').description(
    'list and delete tenants; the first key of one makes it',
  );
  tenants
    .command('list')
    .description('list the tenants by name')
    .addOption(databaseOption())
    .action(({ database }: { database: string }) =>
      administer(database, async (admin) => {
        for (const name of await admin.tenants()) print(name);
      }),
    );
  tenants
    .command('delete <name>')
    .description('delete a tenant for good, with its keys, sessions, agents, policies and webhooks')
    .addOption(databaseOption())
    .option('--yes', 'do it; without it, what would be deleted is told')
    .action((name: string, { database, yes }: { database: string; yes?: true }) =>
      administer(database, async (admin) => {
        if (yes) return admin.deleteTenant(name);
        const { sessions, policies, channels } = await admin.quota(name);
        const keys = (await admin.keys(name)).length;
        throw new Error(
          `The tenant "${name}" has ${sessions.used} sessions, ${keys} keys, ${policies.used} active policies and ${channels.used} active webhooks. Add --yes to delete it with all of them, for good.`,
        );
      }),
    );
  return tenants;
}

/** `sessions`: the end of one. */
export function sessionsCommand(): Command {
  const sessions = new Command('sessions').description('delete sessions');
  tenantCommand(
    sessions,
    'delete <id>',
    'delete a session for good: events, risk, held actions and the messages to webhooks about it',
  ).action((id: string, { database, tenant }: TenantFlags) =>
    administer(database, (admin) => admin.deleteSession(tenant, id)),
  );
  return sessions;
}
