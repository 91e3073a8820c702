import { inSection } from '../requirement.ts';

/** The event as it is sent to `POST /v1/events`. */
export const event = inSection('Event', [
  ['EVT-01', 'MUST', 'eventId', 'An event is identified by a UUID of any version; anything else is invalid.'],
  ['EVT-02', 'MUST', 'agentId', 'The identifier of the agent is a string; another type is invalid.'],
  ['EVT-03', 'MUST', 'sessionId', 'The identifier of the session is a string; another type is invalid.'],
  [
    'EVT-04',
    'MUST',
    'sourceTimestamp',
    'The time of the event is ISO 8601 in UTC and ends in a capital Z, with or without fractions of a second; anything else is invalid.',
  ],
  ['EVT-05', 'MUST', 'category', 'The category is a string, and `tool_api` is taken for tool calls.'],
  [
    'EVT-06',
    'MUST',
    ['schemaVersion', 'Versioning: 2'],
    'The version of the event schema is a string, and `1.0` is taken.',
  ],
  ['EVT-07', 'MUST', 'payload', 'The payload is an object; another type is invalid.'],
  [
    'EVT-08',
    'MUST',
    'payload.toolName',
    'The tool name of a tool call is a string; another type is invalid.',
  ],
  [
    'EVT-09',
    'MUST',
    'payload.argumentsHash',
    'The arguments of a tool call go as a hash, which is a string; another type is invalid.',
  ],
  [
    'EVT-10',
    'MUST',
    'payload.responseStatus',
    'The response status of a tool call is an integer; another type is invalid.',
  ],
  [
    'EVT-11',
    'MUST',
    'fields read back',
    'An event that is read back holds the values that it was sent with, its time included.',
  ],
  ['EVT-12', 'MUST', 'eventId identifies', 'An event that was sent once stands once in its session.'],
  [
    'EVT-13',
    'SHOULD',
    'eventId identifies',
    'The same event sent again is taken again and stands once in its session.',
  ],
  ['EVT-14', 'OPEN', 'other categories', 'Which categories are taken beside `tool_api`.'],
  ['EVT-15', 'OPEN', 'required fields', 'Which fields of an event can be left out.'],
]);
