import {
  type ArgumentOriginsPayload,
  argumentOriginsCategory,
  type SubagentCallPayload,
  schemaVersion,
  subagentCallCategory,
  toolCallCategory,
} from '@actlog/protocol';

/** Matches ASCII strings that need no escaping. */
const unescaped = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Serializes a string like `JSON.stringify`, but faster if nothing needs escaping. */
function jsonString(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The variable parts that events of every category have (specification, "Event"). */
interface EventHead {
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  readonly sourceTimestamp: string;
}

/** The variable parts of a `tool_api` event. */
export interface EventFields extends EventHead {
  readonly toolName: string;
  readonly argumentsHash: string;
  readonly responseStatus: number;
}

/** Serializes the beginning of an event, up to its category. */
function headOf({ eventId, agentId, sessionId, sourceTimestamp }: EventHead): string {
  return `{"eventId":"${eventId}","agentId":${jsonString(agentId)},"sessionId":${jsonString(sessionId)},"sourceTimestamp":"${sourceTimestamp}",`;
}

const afterHead = `"category":${JSON.stringify(toolCallCategory)},"schemaVersion":${JSON.stringify(schemaVersion)},"payload":{"toolName":`;

/**
 * Serializes a `tool_api` event. Concatenated manually, because only the caller's own strings need escaping; a test
 * compares it with `JSON.stringify`.
 */
export function eventBody(event: EventFields): string {
  return `${headOf(event)}${afterHead}${jsonString(event.toolName)},"argumentsHash":${jsonString(event.argumentsHash)},"responseStatus":${event.responseStatus}}}`;
}

/** The variable parts of an `argument_origins` event. */
export interface OriginsFields extends EventHead {
  readonly payload: ArgumentOriginsPayload;
}

/** The variable parts of a `subagent_call` event. */
export interface SubagentFields extends EventHead {
  readonly payload: SubagentCallPayload;
}

/** Kind of facts about a call that the specification does not have, and that a service may reject. */
export type OptionalFacts = 'origins' | 'subagents';

/** Categories of events with facts about a call, and the facts. */
const factCategories = { origins: argumentOriginsCategory, subagents: subagentCallCategory } as const;

function markOf(facts: OptionalFacts): string {
  return `"category":"${factCategories[facts]}"`;
}

/** Serializes an `argument_origins` event, with its fields in the order of {@link eventBody}. */
export function originsBody(event: OriginsFields): string {
  return factsBody('origins', event);
}

/** Serializes a `subagent_call` event, with its fields in the order of {@link eventBody}. */
export function subagentBody(event: SubagentFields): string {
  return factsBody('subagents', event);
}

function factsBody(facts: OptionalFacts, event: EventHead & { readonly payload: object }): string {
  const payload = JSON.stringify(event.payload);
  return `${headOf(event)}${markOf(facts)},"schemaVersion":${JSON.stringify(schemaVersion)},"payload":${payload}}`;
}

/** Returns the facts that an event of this module adds to a call; undefined for the event of a call. */
export function factsIn(body: string): OptionalFacts | undefined {
  // Within a value, the quotes would be escaped.
  if (body.includes(markOf('origins'))) return 'origins';
  return body.includes(markOf('subagents')) ? 'subagents' : undefined;
}

/** Properties of an event that a queue needs. */
export interface EventIdentity {
  readonly eventId: string;
  readonly sessionId: string;
  readonly responseStatus: number;
}

const beforeSession = ',"sessionId":';
const afterSession = ',"sourceTimestamp":';

/**
 * Parses the output of {@link eventBody} by position, with a tenth of the work of `JSON.parse`. A field name cannot
 * occur inside a value, where its quotes would be escaped.
 *
 * @throws SyntaxError when the text is not such an output
 */
export function identityOf(body: string): EventIdentity {
  const session = body.indexOf(beforeSession, 48) + beforeSession.length;
  return {
    eventId: body.slice('{"eventId":"'.length, 48),
    sessionId: JSON.parse(body.slice(session, body.indexOf(afterSession, session))) as string,
    responseStatus: Number.parseInt(body.slice(body.lastIndexOf(':') + 1), 10),
  };
}

let lastMs = -1;
let lastText = '';

/** Formats a time as ISO 8601 in UTC with milliseconds; calls in the same millisecond share the string. */
export function isoTimestamp(ms: number): string {
  if (ms !== lastMs) {
    lastMs = ms;
    lastText = new Date(ms).toISOString();
  }
  return lastText;
}
