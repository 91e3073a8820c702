import { getHeapStatistics } from 'node:v8';
import * as z from 'zod';
import { shortestSecret } from './keys/deployment-secret.ts';
import { shownName } from './keys/shown-name.ts';
import { optionsError } from './options-error.ts';
import { isForeignAddress, isPostgresUrl } from './storage/database-address.ts';

const trueOrFalse = z.boolean('must be true or false');

/** What a server can be told. Everything has a default that is safe for one machine. */
export const configuration = z.strictObject({
  /** Address to listen on. Only this machine reaches the default. */
  host: z.string().min(1).default('127.0.0.1'),
  /** Port to listen on; 0 takes a free one. */
  port: z.int().min(0).max(65_535).default(0),
  /** Path of the SQLite file; `:memory:`, which forgets everything at the end; or `postgres://…`. */
  database: z.string().min(1).default(':memory:'),
  /** Connections that this process keeps to PostgreSQL at most, beside the one on which it listens. */
  databaseConnections: z.int().min(2).max(1000).default(10),
  /** Bytes that the database file may grow to; beyond it events are refused with 503. Unbounded by default. */
  maxDatabaseBytes: z.int().min(1_000_000).optional(),
  /**
   * The deployment's secret. By default random in memory, or a file beside an SQLite database. Servers that share a
   * PostgreSQL database are all given the same one.
   */
  secret: z.string().min(shortestSecret, `must have at least ${shortestSecret} characters`).optional(),
  /** Name of the tenant that the returned key belongs to. */
  tenant: shownName.default('default'),
  /** A key to take instead of making one, so that it stays the same over restarts. */
  apiKey: z.string().min(1).optional(),
  /** Whether keys of kind test are taken; a production deployment may refuse them. */
  acceptTestKeys: trueOrFalse.default(true),
  /** Events that may wait to be stored before more are refused with 503. */
  maxQueuedEvents: z.int().min(1).default(10_000),
  /**
   * Bytes of memory that events may take from their first byte until they are stored, and checks, all other requests
   * and exports as much again each, before more are refused with 503. One always has room. By default an eighth of what
   * Node gives its heap.
   */
  maxQueuedBytes: z
    .int()
    .min(1)
    .default(() => Math.floor(getHeapStatistics().heap_size_limit / 8)),
  /** What each key may send: on average, and at once. `false` for no limit. */
  rateLimit: z
    .union(
      [z.literal(false), z.strictObject({ requestsPerSecond: z.number().min(0.01), burst: z.int().min(1) })],
      'must be false, or an object such as {"requestsPerSecond":100,"burst":200}',
    )
    .default({ requestsPerSecond: 10_000, burst: 20_000 }),
  /** Ranges in CIDR form that webhooks may reach beside public addresses, such as `10.1.0.0/16`. */
  webhookAllowedRanges: z
    .array(
      z.union([z.cidrv4(), z.cidrv6()], 'must be a range in CIDR form, such as 10.1.0.0/16'),
      'must be an array of ranges, such as ["10.1.0.0/16"]',
    )
    .default([]),
  /** Milliseconds that a whole request may take to arrive. */
  requestTimeoutMs: z.int().min(1000).default(30_000),
  /** Whether `/docs` is served. */
  docs: trueOrFalse.default(true),
  /** Whether the console and what it asks of the server are served, below `/console`. */
  console: trueOrFalse.default(true),
  /** How much is logged, as JSON lines on standard output. */
  logLevel: z.enum(['silent', 'fatal', 'error', 'warn', 'info', 'debug', 'trace']).default('silent'),
});

const consistent = configuration.superRefine((settings, { addIssue }) => {
  if (!isPostgresUrl(settings.database)) {
    if (!isForeignAddress(settings.database)) return;
    const message =
      'must be the path of an SQLite file, :memory:, or an address that begins with postgres://';
    addIssue({ code: 'custom', path: ['database'], message });
    return;
  }
  if (settings.secret === undefined) {
    const message =
      'must be given with PostgreSQL, the same to every server of the database; make one with: openssl rand -base64 32';
    addIssue({ code: 'custom', path: ['secret'], message });
  }
  if (settings.maxDatabaseBytes !== undefined) {
    const message = 'bounds an SQLite file; a PostgreSQL database is bounded by its own host';
    addIssue({ code: 'custom', path: ['maxDatabaseBytes'], message });
  }
});

/** What a caller may give. */
export type ServerOptions = z.input<typeof configuration>;

/** What a server runs with. */
export type Configuration = z.output<typeof configuration>;

/**
 * Fills in the defaults.
 *
 * @throws TypeError that names each option that cannot be taken, and why.
 */
export function configured(options: ServerOptions): Configuration {
  const { data, error } = consistent.safeParse(options);
  if (error) throw optionsError("The server's", error);
  return data;
}
