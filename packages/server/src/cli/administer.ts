import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Administration } from '../administration/administration.ts';
import { isPostgresUrl, isUnsupportedAddress } from '../storage/database-address.ts';
import type { AdministrationUse } from './use-administration.ts';

/**
 * Opens the database, which a running server may also use, runs `work`, and closes it. The storage is loaded here, so
 * that a command's help does not load it.
 *
 * @param options - `createsFile`: `true` to create a missing SQLite file. This prints a message, because a key in a
 *   database that no server uses is useless
 * @throws Error when there is no such file
 */
export async function administer(
  database: string,
  work: (admin: Administration) => unknown,
  { createsFile = false, ...use }: AdministrationUse & { readonly createsFile?: boolean } = {},
): Promise<void> {
  if (!createsFile) {
    requireDatabase(database);
  } else if (isMissing(database)) {
    process.stderr.write(`Creating a new database: ${resolve(database)}\n`);
  }
  const { useAdministration } = await import('./use-administration.ts');
  await useAdministration(database, work, use);
}

/** @throws Error when the file of an SQLite database does not exist. */
export function requireDatabase(database: string): void {
  if (!isMissing(database)) return;
  throw new Error(
    `There is no database ${resolve(database)}: set --database or ACTLOG_DATABASE to that of the server.`,
  );
}

function isMissing(database: string): boolean {
  return !isPostgresUrl(database) && !existsSync(database);
}

/** Database and tenant of a command. */
export interface TenantFlags {
  readonly database: string;
  readonly tenant: string;
}

/** Returns the option with the database. An empty value counts as missing, as for the server. */
export function databaseOption(): Option {
  const defaultValue = 'actlog.db';
  return new Option('--database <database>', 'SQLite file, or postgres://… address')
    .env('ACTLOG_DATABASE')
    .default(defaultValue)
    .argParser((text) => {
      if (text === ':memory:') {
        throw new InvalidArgumentError('Commands cannot reach a database in memory; give a file.');
      }
      if (!isUnsupportedAddress(text)) return text || defaultValue;
      throw new InvalidArgumentError(
        'It must be the path of an SQLite file, or an address that begins with postgres://.',
      );
    });
}

/** Returns the option with the tenant. */
export function tenantOption(): Option {
  const defaultValue = 'default';
  return new Option('--tenant <name>', 'tenant')
    .env('ACTLOG_TENANT')
    .default(defaultValue)
    .argParser((text) => text || defaultValue);
}

/**
 * Adds a command for one tenant of a database, with the options for both.
 *
 * @param usage - name and arguments, such as `rotate <id>`
 */
export function tenantCommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).addOption(databaseOption()).addOption(tenantOption());
}

/** Prints a line on standard output. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Parses a number. @throws InvalidArgumentError for any other text. */
export function parseNumber(text: string): number {
  return toNumber(text, 'a number');
}

/** Parses a number, or `word` as `null`. @throws InvalidArgumentError for any other text. */
export function parseNumberOr(word: string): (text: string) => number | null {
  return (text) => (text === word ? null : toNumber(text, `a number, or "${word}"`));
}

function toNumber(text: string, wanted: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`It must be ${wanted}.`);
}
