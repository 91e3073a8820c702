import { randomFillSync } from 'node:crypto';
import {
  type ArgumentOriginsPayload,
  argumentOriginsCategory,
  limits,
  type SubagentCallPayload,
  schemaVersion,
  sessionSealCategory,
  subagentCallCategory,
  toolCallCategory,
} from '@actlog/protocol';
import { toIdentifier, toResourceId } from '@actlog/tool-call';
import type { CallPlace } from './tool-call.ts';

/** Pool of random bytes for many ids, because each draw costs as much as an id. */
const pool = new Uint8Array(8 * 256);
let poolOffset = pool.length;

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Less than any clock value, because `node:test` fakes a clock that starts at 0. */
let lastIdMs = Number.NEGATIVE_INFINITY;
let counter = 0;
let timePart = '';

function randomByte(): number {
  if (poolOffset === pool.length) {
    randomFillSync(pool);
    poolOffset = 0;
  }
  return pool[poolOffset++] as number;
}

function hexByte(byte: number): string {
  return hexBytes[byte] as string;
}

/**
 * Creates a UUID version 7 (RFC 9562, section 5.7) that sorts after all earlier ones of this thread: the 12 bits after
 * the time are a randomly seeded counter (section 6.2, method 1). The id makes repeated sending harmless, so it is
 * created once and kept.
 *
 * @param nowMs - Unix time in milliseconds
 */
export function createEventId(nowMs: number): string {
  // A fake clock may return fractions of a millisecond, which an id cannot represent.
  const wholeMs = Math.floor(nowMs);
  if (wholeMs > lastIdMs) {
    startMillisecond(wholeMs);
  } else if (++counter > 0xfff) {
    // The counter overflowed, or the clock went back: borrow from the next millisecond.
    startMillisecond(lastIdMs + 1);
  }
  const variant = 0x80 | (randomByte() & 0x3f);
  const random =
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte()) +
    hexByte(randomByte());
  return `${timePart}-7${hexByte(counter >> 4)}${(counter & 0xf).toString(16)}-${hexByte(variant)}${hexByte(randomByte())}-${random}`;
}

function startMillisecond(atMs: number): void {
  // An id cannot represent a time before 1970.
  const ms = Math.max(0, atMs);
  lastIdMs = ms;
  // Leave half of the range for further ids of the same millisecond.
  counter = ((randomByte() & 0x7) << 8) | randomByte();
  const hex = ms.toString(16).padStart(12, '0');
  timePart = `${hex.slice(0, 8)}-${hex.slice(8)}`;
}

/** Returns the time in an id created by {@link createEventId}, in Unix milliseconds. */
export function eventIdTimeMs(eventId: string): number {
  return Number.parseInt(eventId.slice(0, 8) + eventId.slice(9, 13), 16);
}

/** `true` for an id of the kind that {@link createEventId} creates: a UUID of version 7 in lower case. */
export function isEventId(id: string): boolean {
  return /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id);
}

/** Matches ASCII strings that need no escaping. */
const unescaped = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;

/** Serializes a string like `JSON.stringify`, but faster if nothing needs escaping. */
function jsonString(text: string): string {
  return unescaped.test(text) ? `"${text}"` : JSON.stringify(text);
}

/** The variable parts that events of every category have (specification, "Event"). */
export interface EventHead {
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
 * Serializes a `tool_api` event. Concatenates strings, because only the caller's need escaping; a test compares the
 * result with `JSON.stringify`.
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

/** The variable parts of a `session_seal` event. */
export interface SealFields extends EventHead {
  readonly payload: {
    /** Id of the recorder in this session. */
    readonly sealer: string;
    /** Number of events that it has recorded in the session so far. */
    readonly count: number;
    /** Ids of the events since its previous seal. */
    readonly eventIds: readonly string[];
    /** SHA-256 over the chain before each event and the event's id, as hex. */
    readonly chain: string;
    /** `true` if it records nothing more in the session. */
    readonly isLast: boolean;
  };
}

/** Kinds of facts that the specification does not have, and that a service may reject. */
const factCategories = {
  origins: argumentOriginsCategory,
  subagents: subagentCallCategory,
  seals: sessionSealCategory,
} as const;

/** Kind of facts that a service may reject: about the arguments of a call, the agents around it, or all events. */
export type OptionalFacts = keyof typeof factCategories;

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

/** Serializes a `session_seal` event, with its fields in the order of {@link eventBody}. */
export function sealBody(event: SealFields): string {
  return factsBody('seals', event);
}

function factsBody(facts: OptionalFacts, event: EventHead & { readonly payload: object }): string {
  const payload = JSON.stringify(event.payload);
  return `${headOf(event)}${markOf(facts)},"schemaVersion":${JSON.stringify(schemaVersion)},"payload":${payload}}`;
}

/** Returns the facts that an event of this module adds to a call; undefined for the event of a call. */
export function factsIn(body: string): OptionalFacts | undefined {
  // Within a value, the quotes would be escaped.
  return (Object.keys(factCategories) as OptionalFacts[]).find((facts) => body.includes(markOf(facts)));
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

/** Returns a place with names that a service accepts; undefined for a call of an agent that runs inside no other. */
export function sendablePlace({ subagent, parentAgentIds = [] }: CallPlace) {
  const name = subagent === undefined ? '' : toIdentifier(subagent, '');
  const all = parentAgentIds.map((id) => toResourceId(id, 'agent'));
  // The outermost agent is the one that people know.
  const parents =
    all.length <= limits.maxParentAgents
      ? all
      : [...all.slice(0, limits.maxParentAgents - 1), ...all.slice(-1)];
  if (name === '' && parents.length === 0) return undefined;
  return { ...(name !== '' && { subagent: name }), ...(parents.length > 0 && { parentAgentIds: parents }) };
}
