import { v7 } from 'uuid';

/** Prefixes of the identifiers that the service makes (reference profile). */
export type IdentifierPrefix = 'agt' | 'pol' | 'pac' | 'nch' | 'dlv' | 'msg';

/** Makes an identifier: its kind, and a UUIDv7 without dashes, so that it sorts by time of making. */
export function newIdentifier(prefix: IdentifierPrefix): string {
  return `${prefix}_${v7().replaceAll('-', '')}`;
}
