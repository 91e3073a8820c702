import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Administration } from '../administration.ts';
import { type DeploymentSecret, deploymentSecret } from '../keys/deployment-secret.ts';
import { checkSecret } from '../keys/secret-check.ts';
import { isForeignAddress, isPostgresUrl } from '../storage/database-address.ts';
import { openStorage } from '../storage/open-storage.ts';
import type { Storage } from '../storage/storage.ts';
import { secretFrom } from './secret-variables.ts';

/** Which tenant of which database a command is about. */
export interface TenantFlags {
  readonly database: string;
  readonly tenant: string;
}

/** The flag that names the database. One that is empty counts as not given, as it does for the server. */
export function databaseOption(): Option {
  const byDefault = 'actlog.db';
  return new Option('--database <database>', 'SQLite file, or postgres://… address')
    .env('ACTLOG_DATABASE')
    .default(byDefault)
    .argParser((text) => {
      if (text === ':memory:') {
        throw new InvalidArgumentError('No command reaches what a server keeps in memory; name a file.');
      }
      if (!isForeignAddress(text)) return text || byDefault;
      throw new InvalidArgumentError(
        'It must be the path of an SQLite file, or an address that begins with postgres://.',
      );
    });
}

/** The flag that names the tenant. */
export function tenantOption(): Option {
  const byDefault = 'default';
  return new Option('--tenant <name>', 'tenant')
    .env('ACTLOG_TENANT')
    .default(byDefault)
    .argParser((text) => text || byDefault);
}

/**
 * Adds a command that is about one tenant of a database, with the flags that name both.
 *
 * @param usage - its name and arguments, such as `rotate <id>`
 */
export function tenantCommand(parent: Command, usage: string, description: string): Command {
  return parent.command(usage).description(description).addOption(databaseOption()).addOption(tenantOption());
}

/**
 * Opens the database beside a server that may be running, does one thing, and closes it.
 *
 * @param options - `makes`: whether an SQLite file is made where there is none; it is said then, because a key in a
 * database that no server uses opens nothing. `needsPartitions`: whether to fail when PostgreSQL's cannot be made
 * @throws Error when there is no such file
 */
export async function administer(
  database: string,
  work: (admin: Administration) => unknown,
  { makes = false, needsPartitions = false } = {},
): Promise<void> {
  if (!makes) {
    requireDatabase(database);
  } else if (isMissing(database)) {
    process.stderr.write(`A new database is made: ${resolve(database)}\n`);
  }
  const storage = await openStorage({
    database,
    connections: 2,
    needsPartitions,
    tell: (message) => process.stderr.write(`${message}\n`),
  });
  try {
    await work(new Administration(storage, () => secretOf(storage, database)));
  } finally {
    await storage.close();
  }
}

/** The secret that the servers of a database have: a variable, as it is for them, else the file beside it. */
async function secretOf(storage: Storage, database: string): Promise<DeploymentSecret> {
  const given = secretFrom(process.env, 'ACTLOG_SECRET');
  if (given === undefined && isPostgresUrl(database)) {
    throw new Error(
      'The secret of the deployment is missing: set ACTLOG_SECRET, or ACTLOG_SECRET_FILE, to what the servers have.',
    );
  }
  const secret = deploymentSecret({ secret: given, database });
  await checkSecret(storage, secret);
  return secret;
}

/** @throws Error when the file of an SQLite database does not exist. */
export function requireDatabase(database: string): void {
  if (!isMissing(database)) return;
  throw new Error(
    `There is no database ${resolve(database)}: name the server's by --database or ACTLOG_DATABASE.`,
  );
}

function isMissing(database: string): boolean {
  return !isPostgresUrl(database) && !existsSync(database);
}

/** Writes a line for people and programs to read. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A number that a flag or an argument gives. @throws InvalidArgumentError for any other text. */
export function number(text: string): number {
  return numberFrom(text, 'a number');
}

/** A number that an argument gives, or null for a word. @throws InvalidArgumentError for any other text. */
export function numberOr(word: string): (text: string) => number | null {
  return (text) => (text === word ? null : numberFrom(text, `a number, or "${word}"`));
}

function numberFrom(text: string, wanted: string): number {
  const value = Number(text);
  if (text.trim() !== '' && Number.isFinite(value)) return value;
  throw new InvalidArgumentError(`It must be ${wanted}.`);
}
