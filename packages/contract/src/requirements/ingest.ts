import { inSection } from '../requirement.ts';

/** `POST /v1/events`. */
export const ingest = inSection('POST /v1/events', [
  ['ING-01', 'MUST', 'status 202', 'An event that is taken is answered with 202 Accepted, and nothing else.'],
  [
    'ING-02',
    'MUST',
    'invalid body',
    'A body that is no event is refused with the error envelope: not JSON, no object, empty.',
  ],
]);
