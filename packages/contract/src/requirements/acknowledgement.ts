import { inSection } from '../requirement.ts';

/** Requirements for the response to an event. */
export const acknowledgement = inSection('Event acknowledgement', [
  ['ACK-01', 'MUST', 'eventId', 'The acknowledgement names the eventId that was sent.'],
  [
    'ACK-02',
    'MUST',
    'receivedAt',
    'The acknowledgement has the time at which the event was received, in ISO 8601, in UTC, with three digits of milliseconds.',
  ],
  ['ACK-03', 'MUST', 'warnings', 'The acknowledgement has an array of warnings, empty if there are none.'],
  ['ACK-04', 'OPEN', 'shape of warnings', 'Shape of a warning.'],
]);
