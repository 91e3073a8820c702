import { v7 } from 'uuid';

/** Prefix of an identifier that the service creates (reference profile). */
export type IdentifierPrefix = 'agt' | 'pol' | 'pac' | 'nch' | 'dlv' | 'msg' | 'dec';

/** Creates an identifier: prefix and UUIDv7 without dashes, so that identifiers sort by time of creation. */
export function newIdentifier(prefix: IdentifierPrefix): string {
  return `${prefix}_${v7().replaceAll('-', '')}`;
}

/** Returns the lowest identifier that `newIdentifier` could have created at a time, in milliseconds since 1970. */
export function lowestIdentifierOf(prefix: IdentifierPrefix, timeMs: number): string {
  return `${prefix}_${Math.max(0, timeMs).toString(16).padStart(12, '0')}`;
}
