import { Command } from 'commander';
import { administer } from './administer.ts';
import { databaseOption, print } from './tenant-flags.ts';

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
