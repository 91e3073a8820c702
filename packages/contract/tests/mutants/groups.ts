import { changeMutants } from './changes.ts';
import { eventMutants } from './events.ts';
import { guardianMutants } from './guardian.ts';
import { keyMutants } from './keys.ts';
import { listMutants } from './lists.ts';
import type { Mutant } from './mutant.ts';
import { readBackMutants } from './read-back.ts';
import { readingMutants } from './reading.ts';
import { recordMutants } from './records.ts';
import { referenceMutants } from './reference.ts';
import { riskMutants } from './risk.ts';
import { tenantMutants } from './tenants.ts';

/** Faults of one kind. */
export interface MutantGroup {
  readonly mutants: readonly Mutant[];
  /** Requirements that are checked for them; others are left out to save time. */
  readonly only: readonly string[];
}

/** All faults, by what they are about. */
export const mutantGroups = {
  events: {
    mutants: eventMutants,
    only: ['SVC-03', 'EVT', 'ACK', 'ING', 'END-01', 'END-03'],
  },
  readBack: {
    mutants: readBackMutants,
    only: ['SVC-03', 'EVT-11', 'EVT-12', 'ACK', 'ING', 'END-03', 'END-05', 'SVC-04'],
  },
  reading: {
    mutants: readingMutants,
    only: ['SVC-04', 'RES', 'PAG', 'END-0', 'END-10', 'END-2', 'RSK', 'LST', 'ERR-01'],
  },
  lists: { mutants: listMutants, only: ['PAG', 'LST', 'END-10'] },
  risk: { mutants: riskMutants, only: ['RSK', 'RES-01', 'END-04', 'END-22'] },
  records: { mutants: recordMutants, only: ['END', 'STA', 'LST-05'] },
  changes: { mutants: changeMutants, only: ['END-0', 'END-1', 'END-20', 'END-24', 'RES-01'] },
  guardian: {
    mutants: guardianMutants,
    only: ['END-11', 'END-13', 'END-15', 'END-16', 'END-17', 'END-18', 'END-22'],
  },
  keys: { mutants: keyMutants, only: ['AUT', 'ERR', 'END-22', 'LIM', 'EVT-01'] },
  tenants: { mutants: tenantMutants, only: ['SVC-02'] },
  reference: { mutants: referenceMutants, only: ['PRF'] },
} as const satisfies Readonly<Record<string, MutantGroup>>;
