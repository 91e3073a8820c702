import { InvalidArgumentError, Option } from 'commander';
import { Administration } from '../administration.ts';
import { openStorage } from '../storage/open-storage.ts';

/** Which tenant of which database a command is about. */
export interface TenantFlags {
  readonly database: string;
  readonly tenant: string;
}

/** The flag that names the database. */
export function databaseOption(): Option {
  return new Option('--database <database>', 'SQLite file, or postgres://… address')
    .env('ACTLOG_DATABASE')
    .default('actlog.db');
}

/** The flag that names the tenant. */
export function tenantOption(): Option {
  return new Option('--tenant <name>', 'tenant').env('ACTLOG_TENANT').default('default');
}

/** Opens the database beside a server that may be running, does one thing, and closes it. */
export async function administer(database: string, work: (admin: Administration) => unknown): Promise<void> {
  const storage = await openStorage({ database, connections: 2 });
  try {
    await work(new Administration(storage));
  } finally {
    await storage.close();
  }
}

/** Writes a line for people and programs to read. */
export function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** A number that a flag or an argument gives. @throws InvalidArgumentError for any other text. */
export function number(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isFinite(value)) throw new InvalidArgumentError('It must be a number.');
  return value;
}
