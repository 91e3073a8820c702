import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { Administration } from '../administration/administration.ts';
import { type DeploymentSecret, deploymentSecret } from '../keys/deployment-secret.ts';
import { checkSecret } from '../keys/secret-check.ts';
import { openStorage } from '../open-storage.ts';
import { isPostgresUrl, isUnsupportedAddress } from '../storage/database-address.ts';
import type { Storage } from '../storage/storage.ts';
import type { DeploymentQuotas } from '../storage/stores/quota-store.ts';
import { secretFrom } from './secret-variables.ts';

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

/**
 * Opens the database, which a running server may also use, runs `work`, and closes it.
 *
 * @param options - `createsFile`: `true` to create a missing SQLite file. This prints a message, because a key in a database
 *   that no server uses is useless. `needsPartitions`: `true` to fail when PostgreSQL's partitions cannot be created.
 *   `quotas`: those of the deployment
 * @throws Error when there is no such file
 */
export async function administer(
  database: string,
  work: (admin: Administration) => unknown,
  {
    createsFile = false,
    needsPartitions = false,
    quotas,
  }: { createsFile?: boolean; needsPartitions?: boolean; quotas?: DeploymentQuotas | undefined } = {},
): Promise<void> {
  if (!createsFile) {
    requireDatabase(database);
  } else if (isMissing(database)) {
    process.stderr.write(`Creating a new database: ${resolve(database)}\n`);
  }
  const storage = await openStorage({
    database,
    connections: 2,
    needsPartitions,
    onProgress: (message) => process.stderr.write(`${message}\n`),
  });
  try {
    await work(new Administration(storage, () => secretOf(storage, database), undefined, quotas));
  } finally {
    await storage.close();
  }
}

/** Returns the secret of the database's servers, from the environment or else from the file beside the database. */
async function secretOf(storage: Storage, database: string): Promise<DeploymentSecret> {
  const given = secretFrom(process.env, 'ACTLOG_SECRET');
  if (given === undefined && isPostgresUrl(database)) {
    throw new Error(
      'The secret of the deployment is missing: set ACTLOG_SECRET, or ACTLOG_SECRET_FILE, to the secret of the servers.',
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
    `There is no database ${resolve(database)}: set --database or ACTLOG_DATABASE to that of the server.`,
  );
}

function isMissing(database: string): boolean {
  return !isPostgresUrl(database) && !existsSync(database);
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
