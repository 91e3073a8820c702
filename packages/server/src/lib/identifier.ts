import { v7 } from 'uuid';

/** Prefix of an identifier that the service creates (reference profile). */
export type IdentifierPrefix =
  | 'agt'
  | 'pol'
  | 'pac'
  | 'nch'
  | 'chn'
  | 'alr'
  | 'psh'
  | 'dlv'
  | 'msg'
  | 'dec'
  | 'grt'
  | 'aud'
  | 'del'
  | 'sin'
  | 'jdg'
  | 'nte'
  | 'lgh';

/** Creates an identifier: prefix and UUIDv7 without dashes, so that identifiers sort by time of creation. */
export function newIdentifier(prefix: IdentifierPrefix): string {
  return `${prefix}_${v7().replaceAll('-', '')}`;
}

let sequence = 0;

/**
 * Creates an identifier of a given time, in milliseconds since 1970. Identifiers of one time sort by their creation in
 * this process. Those of `newIdentifier` never go back, so they are ahead of a clock that was set back.
 */
export function newIdentifierAt(prefix: IdentifierPrefix, timeMs: number): string {
  sequence = (sequence + 1) % 0x1_0000_0000;
  return `${prefix}_${v7({ msecs: timeMs, seq: sequence }).replaceAll('-', '')}`;
}

/** Returns the lowest identifier that `newIdentifier` could have created at a time, in milliseconds since 1970. */
export function lowestIdentifierOf(prefix: IdentifierPrefix, timeMs: number): string {
  return `${prefix}_${Math.max(0, timeMs).toString(16).padStart(12, '0')}`;
}
