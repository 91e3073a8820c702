import { inSection } from '../requirement.ts';

/** Requirements for keys and headers. */
export const authentication = inSection('Authentication', [
  [
    'AUT-01',
    'MUST',
    ['1', 'Endpoints: all need the Authorization header'],
    'Every endpoint rejects a request without the Authorization header with status 401 and the code `AUTHENTICATION_FAILED`.',
  ],
  ['AUT-02', 'MUST', '2', 'A key starts with `al_live_` or with `al_test_`.'],
  ['AUT-03', 'MUST', ['3 keys are generated', '1 valid tenant API key'], 'A key of the tenant is accepted.'],
  [
    'AUT-04',
    'MUST',
    '3 keys can be rotated',
    'A rotated key is rejected by every endpoint after it has expired.',
  ],
  [
    'AUT-05',
    'MUST',
    ['4', 'Errors: AUTHENTICATION_FAILED 401'],
    'Missing or invalid credentials return status 401 and the code `AUTHENTICATION_FAILED`, and the request has no effect.',
  ],
  [
    'AUT-06',
    'MUST',
    '4 message',
    'The message of that response says that the API key is invalid or missing.',
  ],
  [
    'AUT-07',
    'MUST',
    [
      'headers are optional',
      'Content-Type',
      'x-service-sdk',
      'x-service-framework',
      'x-service-agent-version',
    ],
    'The headers x-service-sdk, x-service-framework and x-service-agent-version are optional.',
  ],
  [
    'AUT-08',
    'MUST',
    'SDKs set the headers',
    'The official client sets the headers itself: its own name and version, and framework and agent version where configured.',
  ],
  ['AUT-09', 'OPEN', 'scopes', 'Endpoints that the key may not use.'],
]);
