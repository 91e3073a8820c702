import { inSection } from '../requirement.ts';

/** The answer to an event. */
export const acknowledgement = inSection('Event acknowledgement', [
  ['ACK-01', 'MUST', 'eventId', 'The acknowledgement names the eventId that was sent.'],
  [
    'ACK-02',
    'MUST',
    'receivedAt',
    'The acknowledgement says when the event was received, in ISO 8601, in UTC, with three digits of milliseconds.',
  ],
  [
    'ACK-03',
    'MUST',
    'warnings',
    'The acknowledgement holds an array of warnings, empty where there are none.',
  ],
  ['ACK-04', 'OPEN', 'shape of warnings', 'What a warning looks like.'],
]);
