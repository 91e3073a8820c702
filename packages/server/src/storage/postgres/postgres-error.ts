/**
 * An error of PostgreSQL or of the way to it. It keeps the message, the code and the constraint, and leaves out
 * what quotes rows or addresses, because errors go into logs.
 */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  /**
   * SQLSTATE, or the code of the system's error; `CONNECTION` when the connection broke without one, and
   * {@link commitLost} when it broke at a commit.
   */
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(message: string, code: string, constraint?: string) {
    super(message);
    this.code = code;
    this.constraint = constraint;
  }
}

/** The code of a statement that would write, where the connection leads to a standby or takes no writes otherwise. */
const readOnly = '25006';
const noWrites =
  'the database is a standby, or default_transaction_read_only is on; the server needs the primary, without that setting';

/** Said where the driver says "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string". */
const noPassword =
  'it asks for a password, and none was given: put one into the address, into PGPASSWORD or into ~/.pgpass';

/** The error of the driver as it may be shown. Anything but an error of the driver goes through unchanged. */
export function postgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PostgresError) return error;
  // Of several addresses that were tried, the first says what is wrong.
  const first: Error = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const { code, constraint } = first as Error & { code?: string; constraint?: string };
  if (code === readOnly) return new PostgresError(`${first.message}: ${noWrites}`, code);
  if (code !== undefined) return new PostgresError(first.message, code, constraint);
  const isConnection = /terminated|timeout|not queryable|closed/i.test(first.message);
  return isConnection ? new PostgresError(first.message, 'CONNECTION') : error;
}

/**
 * The error of a connection that could not be made, as it may be shown. Whatever the reason, such as a certificate that
 * has ended, it is none of the request's, which may succeed later.
 */
export function connectError(error: unknown): unknown {
  const shown = postgresError(error);
  if (!(shown instanceof Error) || (shown as { code?: string }).code === 'ERR_INVALID_URL') return shown;
  if (/client password must be/.test(shown.message)) return new PostgresError(noPassword, 'CONNECTION');
  const isOutage = shown instanceof PostgresError && postgresOutage(shown) !== undefined;
  return isOutage ? shown : new PostgresError(shown.message, 'CONNECTION');
}

/**
 * Whether a statement was prepared for tables that have other columns now, as when a newer release has brought them up
 * to date. PostgreSQL then says "cached plan must not change result type", under the code of what it cannot do.
 */
export function isPlanOutdated(error: unknown): boolean {
  return error instanceof PostgresError && error.code === '0A000';
}

/** Whether the transaction lost against another, or a change of the tables, and may succeed when it is run again. */
export function isLostRace(error: unknown): boolean {
  if (!(error instanceof PostgresError)) return false;
  return error.code === '40001' || error.code === '40P01' || isPlanOutdated(error);
}

/** Whether the statement waited too long for a lock. */
export function isLockTaken(error: unknown): boolean {
  return error instanceof PostgresError && error.code === '55P03';
}

/** Whether the connection takes no writes, while one that is made anew may lead to a database that does. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof PostgresError && error.code === readOnly;
}

const systemCodes = new Set([
  'CONNECTION',
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

/** What SQLSTATEs mean that say "not now" rather than "never", by code or class. */
const passing: readonly (readonly [string, string])[] = [
  ['08', 'cannot be reached'],
  ['57P', 'cannot be reached'],
  ['28', 'does not let the server in'],
  ['3D000', 'cannot be reached'],
  ['57014', 'took too long'],
  ['25P03', 'took too long'],
  ['25P04', 'took too long'],
  ['55P03', 'is locked by another process'],
  ['40001', 'is locked by another process'],
  ['40P01', 'is locked by another process'],
  [readOnly, 'takes no writes at the moment'],
  ['53100', 'is full'],
  ['53', 'has no resources left'],
  ['58', 'had an input or output error'],
];

/** The code of a commit whose answer did not come, because the connection broke: nobody knows whether it was made. */
export const commitLost = 'COMMIT_LOST';

/** The error of a commit. One that PostgreSQL answered was not made. */
export function commitError(error: unknown): unknown {
  const isAnswered = !(error instanceof PostgresError) || !systemCodes.has(error.code);
  return isAnswered ? error : new PostgresError(error.message, commitLost);
}

/** Why PostgreSQL cannot take a request now, or undefined for an error of another kind. */
export function postgresOutage(error: PostgresError): string | undefined {
  if (error.code === commitLost) return 'was lost while it stored this';
  if (systemCodes.has(error.code)) return 'cannot be reached';
  return passing.find(([code]) => error.code.startsWith(code))?.[1];
}
