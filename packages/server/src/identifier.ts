import { v7 } from 'uuid';

/** Prefix of an identifier that the service creates (reference profile). */
export type IdentifierPrefix = 'agt' | 'pol' | 'pac' | 'nch' | 'dlv' | 'msg';

/** Creates an identifier: prefix and UUIDv7 without dashes, so that identifiers sort by time of creation. */
export function newIdentifier(prefix: IdentifierPrefix): string {
  return `${prefix}_${v7().replaceAll('-', '')}`;
}
