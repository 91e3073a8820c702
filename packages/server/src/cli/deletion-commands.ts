import { Command } from 'commander';
import { administer, databaseOption, print, type TenantFlags, tenantCommand } from './tenant-flags.ts';

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
        for (const name of await admin.tenants()) print(name);
      }),
    );
  tenants
    .command('delete <name>')
    .description('delete a tenant permanently, with its keys, sessions, agents, policies and webhooks')
    .addOption(databaseOption())
    .option('--yes', 'delete; without it, only show what would be deleted')
    .action((name: string, { database, yes }: { database: string; yes?: true }) =>
      administer(database, async (admin) => {
        if (yes) return admin.deleteTenant(name);
        const { sessions, policies, channels } = await admin.quota(name);
        const keys = (await admin.keys(name)).length;
        throw new Error(
          `The tenant "${name}" has ${sessions.used} sessions, ${keys} keys, ${policies.used} active policies and ${channels.used} active webhooks. Add --yes to delete it with all of them permanently.`,
        );
      }),
    );
  return tenants;
}

/** Returns the command `sessions`, which deletes sessions. */
export function sessionsCommand(): Command {
  const sessions = new Command('sessions').description('delete sessions');
  tenantCommand(
    sessions,
    'delete <id>',
    'delete a session permanently: events, risk, held actions and the messages to webhooks about it',
  ).action((id: string, { database, tenant }: TenantFlags) =>
    administer(database, (admin) => admin.deleteSession(tenant, id)),
  );
  return sessions;
}
