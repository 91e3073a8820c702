import { inSection } from '../requirement.ts';

/** Requirements for `POST /v1/events`. */
export const ingest = inSection('POST /v1/events', [
  ['ING-01', 'MUST', 'status 202', 'An accepted event returns 202 Accepted and no other status.'],
  [
    'ING-02',
    'MUST',
    'invalid body',
    'A body that is not an event is rejected with the error envelope and not recorded: not JSON, not an object, empty, invalid.',
  ],
]);
