import { hash32 } from '../codec/hash32.ts';
import type { EventContext, RiskEvent } from '../risk-event.ts';
import { isContentName } from '../taxonomy/content-names.ts';
import { tagBits } from '../taxonomy/tag.ts';
import { profileOf } from '../taxonomy/tool-profile.ts';

/** Origins of the arguments of a call, as bits. A target says what an action is aimed at; the rest is content. */
export const ORIGIN = {
  /** A target stood in the running text of an earlier result. */
  targetFromText: 1,
  /** A target was a field of an earlier result. */
  targetFromField: 2,
  /** A target stood nowhere: the model wrote it. */
  targetFromModel: 4,
  /** A target stood in a text of the user or the developer. */
  targetFromUser: 8,
  contentFromText: 16,
  contentFromField: 32,
  contentFromModel: 64,
  contentFromUser: 128,
  /** An argument came from the result of a tool that reads private data. */
  fromPrivate: 256,
  /** An argument came from the result of a tool that handles secrets. */
  fromSecret: 512,
  /** An argument came from the result of a tool that reads text of third parties. */
  fromUntrusted: 1024,
} as const;

/** Content of an `argument_origins` event about a call. */
export interface OriginNote {
  readonly timestampMs: number;
  /** Short form of the id of the call's event, followed by the bits, so that any two notes have an order. */
  readonly eventId: string;
  /** Bits of {@link ORIGIN}. */
  readonly bits: number;
}

/** An {@link OriginNote} with what only counting needs. */
export interface ReadNote extends OriginNote {
  readonly toolName: string;
  /** Id of the call's event. */
  readonly callId: string;
}

const PRIVATE = tagBits('read_private');
const SECRET = tagBits('credential');
const UNTRUSTED = tagBits('ingest_untrusted');
const MAX_PATHS = 64;
/** Digits of a short event id. */
const shortLength = 6;

/** Returns a short form of an event id: six hexadecimal digits, the same for both cases of a UUID. */
export function shortEventId(eventId: string): string {
  return (hash32(eventId.toLowerCase()) >>> 8).toString(16).padStart(shortLength, '0');
}

/** Creates a note about the call with this short id. */
export function noteOf(shortId: string, timestampMs: number, bits: number): OriginNote {
  return { timestampMs, eventId: `${shortId}${bits.toString(16).padStart(3, '0')}`, bits };
}

/** Returns the short id of the call that a note is about. */
export function shortIdOf(note: OriginNote): string {
  return note.eventId.slice(0, shortLength);
}

/** Reads an `argument_origins` event; undefined if its payload is none. */
export function originNote(
  event: RiskEvent,
  context: EventContext,
  timestampMs: number,
): ReadNote | undefined {
  const { eventId, toolName, origins } = event.payload ?? {};
  if (typeof eventId !== 'string' || typeof toolName !== 'string') return undefined;
  if (typeof origins !== 'object' || origins === null) return undefined;
  let bits = 0;
  for (const [path, origin] of Object.entries(origins).slice(0, MAX_PATHS)) {
    if (typeof origin === 'object' && origin !== null) bits |= originBits(path, origin, context);
  }
  return { ...noteOf(shortEventId(eventId), timestampMs, bits), callId: eventId.slice(0, 36), toolName };
}

function originBits(path: string, origin: object, context: EventContext): number {
  const { from, as, toolName } = origin as { from?: unknown; as?: unknown; toolName?: unknown };
  const shift = isContentName(path) ? 4 : 0;
  if (from === 'user' || from === 'system') return ORIGIN.targetFromUser << shift;
  if (from === 'model') return ORIGIN.targetFromModel << shift;
  if (from !== 'tool') return 0;
  const place = (as === 'field' ? ORIGIN.targetFromField : ORIGIN.targetFromText) << shift;
  return place | sourceBits(toolName, context);
}

/** Returns bits for the kind of tool that an argument came from. */
function sourceBits(toolName: unknown, context: EventContext): number {
  if (typeof toolName !== 'string') return 0;
  const tags = context.tags?.get(toolName) ?? profileOf(toolName).bits;
  return (
    (tags & PRIVATE ? ORIGIN.fromPrivate : 0) |
    (tags & SECRET ? ORIGIN.fromSecret : 0) |
    (tags & UNTRUSTED ? ORIGIN.fromUntrusted : 0)
  );
}

/** `true` if a tool's text says what an action is aimed at, and nothing of it is the user's. */
export function isForeign(bits: number): boolean {
  return (
    (bits & ORIGIN.targetFromText) !== 0 && (bits & (ORIGIN.targetFromUser | ORIGIN.contentFromUser)) === 0
  );
}
