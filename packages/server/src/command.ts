/**
 * Commands of the server, for a program that contains them. Each is loaded when it is needed.
 *
 * @packageDocumentation
 */
import type { Command } from 'commander';
import { hideSqliteWarning } from './sqlite-warning.ts';

export { addSessionDelete } from './cli/administration-commands.ts';

/** Returns a function that loads a command. */
function command(load: () => Promise<Command>): () => Promise<Command> {
  return () => {
    hideSqliteWarning();
    return load();
  };
}

/** Functions that load and create a command, by its name: `serve` and the administration of the database. */
export const serverCommands = {
  serve: command(async () => (await import('./cli/serve-command.ts')).serveCommand()),
  keys: command(async () => (await import('./cli/administration-commands.ts')).keysCommand()),
  tenants: command(async () => (await import('./cli/administration-commands.ts')).tenantsCommand()),
  retention: command(async () => (await import('./cli/maintenance-commands.ts')).retentionCommand()),
  'legal-holds': command(async () => (await import('./cli/administration-commands.ts')).legalHoldsCommand()),
  quota: command(async () => (await import('./cli/administration-commands.ts')).quotaCommand()),
  tags: command(async () => (await import('./cli/administration-commands.ts')).tagsCommand()),
  learn: command(async () => (await import('./cli/maintenance-commands.ts')).learnCommand()),
  webhooks: command(async () => (await import('./cli/administration-commands.ts')).webhooksCommand()),
  backup: command(async () => (await import('./cli/maintenance-commands.ts')).backupCommand()),
  migrate: command(async () => (await import('./cli/maintenance-commands.ts')).migrateCommand()),
} as const;
