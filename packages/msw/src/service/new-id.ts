import { v7 } from 'uuid';

/** Creates an identifier of a kind: its prefix and a UUIDv7 without dashes (reference profile, "Ids"). */
export function newId(kind: 'agt' | 'pol' | 'pac' | 'nch' | 'grt'): string {
  return `${kind}_${v7().replaceAll('-', '')}`;
}
