import { type Command, InvalidArgumentError, Option } from 'commander';
import { isUnsupportedAddress } from '../storage/database-address.ts';

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
