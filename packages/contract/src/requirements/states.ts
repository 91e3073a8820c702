import { inSection } from '../requirement.ts';

/** States and transitions. */
export const states = inSection('States and transitions', [
  ['STA-01', 'SHOULD', 'DELETE archives', 'A policy that was archived can still be read.'],
  ['STA-02', 'OPEN', 'state names', 'What tells an archived policy from an active one.'],
]);
