import { event, inSection, type Requirement } from './requirement.ts';
import { endpoints } from './requirements/endpoints.ts';
import { profile } from './requirements/profile.ts';

/** Requirements for keys and headers. */
const authentication = inSection('Authentication', [
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

/** Requirements for the envelope, its codes, and the reaction of clients. */
const errors = inSection('Errors', [
  [
    'ERR-01',
    'MUST',
    ['one envelope', 'error.code'],
    'Every error is an envelope whose error.code is a string.',
  ],
  ['ERR-02', 'MUST', 'error.message', 'Every error has a human-readable error.message.'],
  ['ERR-03', 'MUST', 'error.details', 'If an error has details, they are an array.'],
  [
    'ERR-04',
    'MUST',
    'VALIDATION_ERROR',
    'A request that fails validation returns the code `VALIDATION_ERROR`.',
  ],
  ['ERR-05', 'SHOULD', 'error.details', 'A validation error has details.'],
  [
    'ERR-06',
    'SHOULD',
    'VALIDATION_ERROR',
    'A validation error has a 4xx status other than 401 and 429, so that clients neither misinterpret nor retry it.',
  ],
  ['ERR-07', 'OPEN', ['502', '503', '504'], 'Gateway errors that occurred.'],
  [
    'ERR-08',
    'OPEN',
    ['status of VALIDATION_ERROR', 'shape of details', 'list of codes'],
    'Codes that occurred, with their status.',
  ],
  [
    'ERR-09',
    'MUST',
    'retry of 429',
    'The official client retries a 429 after the delay of Retry-After, not before.',
  ],
  [
    'ERR-10',
    'MUST',
    'retry of 502, 503, 504',
    'The official client retries 502, 503 and 504 with exponentially growing, jittered delays.',
  ],
]);

/** Requirements for pagination. */
const lists = inSection('List endpoints', [
  ['LST-01', 'MUST', 'limit', 'A page has at most `limit` items.'],
  ['LST-02', 'SHOULD', 'limit', 'A page that is not the last has exactly `limit` items.'],
  [
    'LST-03',
    'MUST',
    ['cursor', '3', '1'],
    'Following nextCursor with the same limit returns every item of a list.',
  ],
  ['LST-04', 'MUST', ['cursor', '3'], 'Following nextCursor with the same limit returns no item twice.'],
  [
    'LST-05',
    'MUST',
    ['cursor is omitted for the first page', 'limit'],
    'The first page is returned without a cursor, with or without a limit.',
  ],
  [
    'LST-06',
    'MUST',
    ['Remaining detail: name of the array', 'What the service does: listed'],
    'A page has its items in an array with any name.',
  ],
  ['LST-07', 'OPEN', ['Remaining detail: name of the array'], 'Name of the array of items.'],
  [
    'LST-08',
    'OPEN',
    ['Remaining detail: query parameters'],
    'Handling of unknown or invalid query parameters.',
  ],
]);

/** Requirements for the service as a whole. */
const service = inSection('What the service does', [
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

/** Requirements for `GET /v1/sessions/:id/risk`. */
const risk = inSection('GET /v1/sessions/:id/risk', [
  [
    'RSK-01',
    'MUST',
    ['score', 'What the service does: risk score'],
    'The risk of a session has a numeric score, besides those of its dimensions.',
  ],
  [
    'RSK-02',
    'MUST',
    ['ten dimensions', 'What the service does: ten dimensions'],
    'The risk of a session has ten different dimensions with scores.',
  ],
  [
    'RSK-03',
    'MUST',
    ['factors and recommendations', 'What the service does: factors and recommendations'],
    'The risk of a session has factors that explain it, and recommendations.',
  ],
  ['RSK-04', 'OPEN', ['What the service does: OWASP categories'], 'OWASP names of the ten dimensions.'],
]);

/** Requirements for rates and limits. */
const limits = inSection('Limits', [
  ['LIM-01', 'MUST', ['1', 'Authentication: 5'], 'A key that exceeds its rate does not affect other keys.'],
  [
    'LIM-02',
    'MUST',
    ['2', 'Errors: 429'],
    'A request over the rate returns 429 with a Retry-After header in seconds or as a date.',
  ],
  [
    'LIM-03',
    'MUST',
    '3',
    'The official client retries a failed request automatically, three times by default.',
  ],
  ['LIM-04', 'OPEN', 'numbers', 'Limits of rates, page sizes and body sizes.'],
]);

/** Requirements for sessions, agents, policies, pending actions and notification channels. */
const records = inSection('Other resources', [
  [
    'RES-01',
    'MUST',
    'addressed by id',
    'A record is addressed by its identifier in the path, and an unknown identifier returns no record.',
  ],
  [
    'RES-02',
    'SHOULD',
    'addressed by id',
    'An identifier with special characters works if they are escaped in the path.',
  ],
  ['RES-03', 'OPEN', 'fields', 'Fields of the records.'],
]);

/** Requirements for the response to an event. */
const acknowledgement = inSection('Event acknowledgement', [
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

/** Requirements for a page of results. */
const page = inSection('Page of results', [
  ['PAG-01', 'MUST', 'nextCursor', 'Every page has a nextCursor, which is a string or null.'],
  [
    'PAG-02',
    'MUST',
    ['nextCursor is null at the end', 'List endpoints: 2'],
    'The last page of a list has null as its nextCursor, so that pagination ends.',
  ],
]);

/** Requirements for `POST /v1/events`. */
const ingest = inSection('POST /v1/events', [
  ['ING-01', 'MUST', 'status 202', 'An accepted event returns 202 Accepted and no other status.'],
  [
    'ING-02',
    'MUST',
    'invalid body',
    'A body that is not an event is rejected with the error envelope and not recorded: not JSON, not an object, empty, invalid.',
  ],
]);

/** Requirements for versions of the interface. */
const versioning = inSection('Versioning', [
  ['VER-01', 'MUST', '1', 'The endpoints are served under the path prefix `/v1`.'],
  ['VER-02', 'OPEN', 'deprecation', 'Deprecation notices in responses.'],
]);

/** Requirements for states and transitions. */
const states = inSection('States and transitions', [
  ['STA-01', 'SHOULD', 'DELETE archives', 'An archived policy can still be read.'],
  ['STA-02', 'OPEN', 'state names', 'Difference between an archived and an active policy.'],
]);

/** Requirements for outbound events. */
const outbound = inSection('Events', [
  ['OUT-01', 'OPEN', 'outbound events', 'Contents, signatures and retries of webhooks.'],
]);

/** All requirements of the specification, in its order, followed by the reference profile's. */
export const requirements: readonly Requirement[] = [
  ...service,
  ...event,
  ...acknowledgement,
  ...records,
  ...page,
  ...states,
  ...endpoints,
  ...ingest,
  ...risk,
  ...lists,
  ...authentication,
  ...outbound,
  ...errors,
  ...limits,
  ...versioning,
  ...profile,
];
