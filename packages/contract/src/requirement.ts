/**
 * Level of a requirement.
 *
 * - `MUST`: required by the specification; other behavior breaks the contract.
 * - `SHOULD`: implied but not stated by the specification; reported, never failed.
 * - `OPEN`: left open by the specification; observed behavior is reported, not judged.
 */
export type Level = 'MUST' | 'SHOULD' | 'OPEN';

/** A profile that a deployment can claim to implement, which is then checked as well. */
export type Capability = 'reference-profile';

/** All capabilities that a run can name. */
export const capabilities: readonly Capability[] = ['reference-profile'];

/** One requirement of a deployment. */
export interface Requirement {
  /** Stable id, such as `ACK-02`. The letters stand for the section. */
  readonly id: string;
  readonly level: Level;
  /** Heading of the specification, or of the reference profile for its requirements. */
  readonly section: string;
  /** Statements behind it, by row or number: `Errors: code`. The first is in `section`. */
  readonly sources: readonly string[];
  /** The requirement in one sentence. */
  readonly text: string;
  /** Checked only if the run names this capability. */
  readonly capability?: Capability;
}

/** A requirement as a row in the file of its section: id, level, items, sentence. */
export type Row = readonly [id: string, level: Level, items: string | readonly string[], text: string];

/** Creates the requirements of a section. An item without a colon belongs to the section itself. */
export function inSection(
  section: string,
  rows: readonly Row[],
  capability?: Capability,
): readonly Requirement[] {
  return rows.map(([id, level, items, text]) => ({
    id,
    level,
    section,
    sources: [items].flat().map((item) => (item.includes(': ') ? item : `${section}: ${item}`)),
    text,
    ...(capability && { capability }),
  }));
}

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
