import { inSection } from '../requirement.ts';

/** Requirements for outbound events. */
export const outbound = inSection('Events', [
  ['OUT-01', 'OPEN', 'outbound events', 'Contents, signatures and retries of webhooks.'],
]);
