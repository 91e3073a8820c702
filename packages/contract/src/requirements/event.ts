import { inSection } from '../requirement.ts';

/** Requirements for the event as sent to `POST /v1/events`. */
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
  ['EVT-05', 'MUST', 'category', 'The category is a string, and `tool_api` is accepted for tool calls.'],
  [
    'EVT-06',
    'MUST',
    ['schemaVersion', 'Versioning: 2'],
    'The version of the event schema is a string, and `1.0` is accepted.',
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
    'The arguments of a tool call are sent as a hash, which is a string; another type is invalid.',
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
    'An event is returned with the values that it was sent with, including its time and its payload, in the session and in the export.',
  ],
  [
    'EVT-12',
    'MUST',
    'eventId identifies',
    'An event occurs once in its session and in the export, however often it was sent.',
  ],
  ['EVT-13', 'SHOULD', 'eventId identifies', 'The same event sent again is accepted again.'],
  ['EVT-14', 'OPEN', 'other categories', 'Categories that are accepted besides `tool_api`.'],
  ['EVT-15', 'OPEN', 'required fields', 'Fields of an event that can be omitted.'],
]);
