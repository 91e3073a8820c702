import { inSection } from '../requirement.ts';

/** Requirements for the service as a whole. */
export const service = inSection('What the service does', [
  ['SVC-01', 'MUST', 'HTTP and JSON', 'The service is called over HTTP and returns JSON.'],
  [
    'SVC-02',
    'MUST',
    ['access per tenant', 'multi-tenant'],
    "Records of one tenant cannot be read, listed or changed with another tenant's key.",
  ],
  [
    'SVC-03',
    'MUST',
    'event of an agent and a session',
    'An event is returned with the agent and the session that it was sent with.',
  ],
  [
    'SVC-04',
    'MUST',
    'events grouped into sessions',
    'A session contains all events that were sent with its identifier, and none of another session.',
  ],
]);
