import { inSection } from '../requirement.ts';

/** Requirements for states and transitions. */
export const states = inSection('States and transitions', [
  ['STA-01', 'SHOULD', 'DELETE archives', 'An archived policy can still be read.'],
  ['STA-02', 'OPEN', 'state names', 'Difference between an archived and an active policy.'],
]);
