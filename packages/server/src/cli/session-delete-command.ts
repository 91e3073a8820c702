import type { Command } from 'commander';
import { administer } from './administer.ts';
import { type TenantFlags, tenantCommand } from './tenant-flags.ts';

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
