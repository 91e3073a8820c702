import { inSection } from '../requirement.ts';

/** Outbound events. */
export const outbound = inSection('Events', [
  ['OUT-01', 'OPEN', 'outbound events', 'What webhooks are sent, how they are signed and repeated.'],
]);
