/**
 * Error of PostgreSQL or of the connection to it. It keeps the message, the code and the constraint, and drops fields
 * that quote rows or addresses, because errors go into logs.
 */
export class PostgresError extends Error {
  override readonly name = 'PostgresError';
  /**
   * SQLSTATE or a system error code. `CONNECTION` when the connection broke without a code, and {@link commitLost} when
   * it broke during a commit.
   */
  readonly code: string;
  readonly constraint: string | undefined;

  constructor(message: string, code: string, constraint?: string) {
    super(message);
    this.code = code;
    this.constraint = constraint;
  }
}

/** SQLSTATE of a write on a connection that is read-only, such as one to a standby. */
const readOnly = '25006';
const readOnlyHint =
  'the database is a standby, or default_transaction_read_only is on; the server needs the primary, without that setting';

/** Replaces the driver's "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string". */
const missingPasswordMessage =
  'it requires a password: set one in the address, in PGPASSWORD or in ~/.pgpass';

/** Converts an error of the driver into one that is safe to show. Returns any other error unchanged. */
export function postgresError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof PostgresError) return error;
  // The first of several attempted addresses has the relevant error.
  const first: Error = error instanceof AggregateError ? (error.errors[0] ?? error) : error;
  const { code, constraint } = first as Error & { code?: string; constraint?: string };
  if (code === readOnly) return new PostgresError(`${first.message}: ${readOnlyHint}`, code);
  if (code !== undefined) return new PostgresError(first.message, code, constraint);
  const isConnection = /terminated|timeout|not queryable|closed/i.test(first.message);
  return isConnection ? new PostgresError(first.message, 'CONNECTION') : error;
}

/**
 * Converts the error of a failed connection attempt into one that is safe to show. Every such error, even an expired
 * certificate, counts as an outage: it is not the request's fault, and the request may succeed later.
 */
export function connectError(error: unknown): unknown {
  const shown = postgresError(error);
  if (!(shown instanceof Error) || (shown as { code?: string }).code === 'ERR_INVALID_URL') return shown;
  if (/client password must be/.test(shown.message))
    return new PostgresError(missingPasswordMessage, 'CONNECTION');
  const isOutage = shown instanceof PostgresError && postgresOutage(shown) !== undefined;
  return isOutage ? shown : new PostgresError(shown.message, 'CONNECTION');
}

/**
 * `true` if a statement was prepared before its tables changed, as during an upgrade. PostgreSQL reports "cached plan
 * must not change result type" with SQLSTATE 0A000 (feature not supported).
 */
export function isPlanOutdated(error: unknown): boolean {
  return error instanceof PostgresError && error.code === '0A000';
}

/** `true` if the transaction lost to another one, or to a change of the tables, and may succeed when run again. */
export function isLostRace(error: unknown): boolean {
  if (!(error instanceof PostgresError)) return false;
  return error.code === '40001' || error.code === '40P01' || isPlanOutdated(error);
}

/** `true` if the statement reached the lock timeout. */
export function isLockTimeout(error: unknown): boolean {
  return error instanceof PostgresError && error.code === '55P03';
}

/** `true` if the connection is read-only; a new connection may lead to a database that accepts writes. */
export function isReadOnly(error: unknown): boolean {
  return error instanceof PostgresError && error.code === readOnly;
}

/** `true` if the database accepts no writes: it is read-only, or its disk is full or failing. */
export function isUnwritable({ code }: PostgresError): boolean {
  return code === readOnly || code === '53100' || code.startsWith('58');
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

/** Meaning of SQLSTATEs for conditions that can pass, by code or class. */
const transientCodes: readonly (readonly [string, string])[] = [
  ['08', 'cannot be reached'],
  ['57P', 'cannot be reached'],
  ['28', 'rejected the credentials of the server'],
  ['3D000', 'cannot be reached'],
  ['57014', 'took too long'],
  ['25P03', 'took too long'],
  ['25P04', 'took too long'],
  ['55P03', 'is locked by another process'],
  ['40001', 'is locked by another process'],
  ['40P01', 'is locked by another process'],
  [readOnly, 'accepts no writes at the moment'],
  ['53100', 'is full'],
  ['53', 'has no resources left'],
  ['58', 'had an I/O error'],
];

/** Code of a commit during which the connection broke, so that its outcome is unknown. */
export const commitLost = 'COMMIT_LOST';

/** Converts the error of a commit. An error that PostgreSQL itself reported means that nothing was committed. */
export function commitError(error: unknown): unknown {
  const isReported = !(error instanceof PostgresError) || !systemCodes.has(error.code);
  return isReported ? error : new PostgresError(error.message, commitLost);
}

/** Returns why PostgreSQL cannot serve a request now, or `undefined` for any other error. */
export function postgresOutage(error: PostgresError): string | undefined {
  if (error.code === commitLost) return 'was lost during the commit';
  if (systemCodes.has(error.code)) return 'cannot be reached';
  return transientCodes.find(([code]) => error.code.startsWith(code))?.[1];
}
