import { inSection } from '../requirement.ts';

/** What the service is and does as a whole. */
export const service = inSection('What the service does', [
  ['SVC-01', 'MUST', 'HTTP and JSON', 'The service is spoken to over HTTP, and answers with JSON.'],
  [
    'SVC-02',
    'MUST',
    ['access per tenant', 'multi-tenant'],
    "What one tenant's key makes can neither be read, listed nor changed with another tenant's key.",
  ],
  [
    'SVC-03',
    'MUST',
    'event of an agent and a session',
    'An event that is read back names the agent and the session that it was sent with.',
  ],
  [
    'SVC-04',
    'MUST',
    'events grouped into sessions',
    'A session holds all events that were sent with its identifier, and none of another session.',
  ],
]);
