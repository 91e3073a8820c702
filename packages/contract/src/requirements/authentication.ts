import { inSection } from '../requirement.ts';

/** Keys and headers. */
export const authentication = inSection('Authentication', [
  [
    'AUT-01',
    'MUST',
    ['1', 'Endpoints: all need the Authorization header'],
    'Every endpoint refuses a request without the Authorization header with status 401.',
  ],
  ['AUT-02', 'MUST', '2', 'A key starts with `al_live_` or with `al_test_`.'],
  [
    'AUT-03',
    'MUST',
    ['3 keys are generated', '1 valid tenant API key'],
    'A key of the tenant opens the service.',
  ],
  [
    'AUT-04',
    'MUST',
    '3 keys can be rotated',
    'A key that was rotated away, and whose time is over, is refused.',
  ],
  [
    'AUT-05',
    'MUST',
    ['4', 'Errors: AUTHENTICATION_FAILED 401'],
    'Credentials that are missing or invalid are answered with status 401 and the code `AUTHENTICATION_FAILED`.',
  ],
  ['AUT-06', 'MUST', '4 message', 'The message of that answer says that the API key is invalid or missing.'],
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
    'The headers x-service-sdk, x-service-framework and x-service-agent-version may be sent and may be left out.',
  ],
  [
    'AUT-08',
    'MUST',
    'SDKs set the headers',
    'The official client sets the headers itself: its own name and version, and framework and agent version where configured.',
  ],
  ['AUT-09', 'OPEN', 'scopes', 'Which endpoints the key may not use.'],
]);
