import { eventIdTime } from './events/event-id-time.ts';

/** Kinds of origins, least trusted first. */
const kinds = [
  'text',
  'tool',
  'unknown',
  'unrecognized',
  'model',
  'field',
  'system',
  'user',
  'approver',
] as const;

/** Kind of an origin: the source, or the form of what a tool returned; `tool` if the form is not given. */
export type OriginKind = (typeof kinds)[number];

/** Origin of the argument at a path. */
export interface PathOrigin {
  readonly path: string;
  readonly kind: OriginKind;
  /** Tool of the earlier call. */
  readonly toolName: string | undefined;
  /** Time of the earlier call, if its event id has one. */
  readonly calledAt: Date | undefined;
}

/** Beginning of what is said about an origin; `returned` if the earlier call follows. */
const words: Readonly<Record<OriginKind, readonly [text: string, returned?: true]>> = {
  text: ['from the text that', true],
  tool: ['from what', true],
  unknown: ['not known (older texts were dropped from memory)'],
  unrecognized: ['not known to this page'],
  model: ['written by the model'],
  field: ['a field that', true],
  system: ['from the system prompt'],
  user: ['from what the user said'],
  approver: ['chosen by the approver'],
};

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function kindOf(from: unknown, as: unknown): OriginKind {
  if (from === 'tool') return as === 'text' || as === 'field' ? as : 'tool';
  if (from === 'user' || from === 'system' || from === 'model' || from === 'approver' || from === 'unknown')
    return from;
  return 'unrecognized';
}

/**
 * Reads origins by argument path, least trusted first. They are the claim of a caller, and the origins of events can
 * contain anything.
 *
 * @returns undefined if they are not an object or have no path
 */
export function readOrigins(origins: unknown): readonly PathOrigin[] | undefined {
  if (!isObject(origins)) return undefined;
  const read = Object.entries(origins).map(([path, origin]): PathOrigin => {
    const { from, as, toolName, eventId } = isObject(origin) ? origin : {};
    const kind = kindOf(from, as);
    return {
      path,
      kind,
      toolName: typeof toolName === 'string' ? toolName : undefined,
      calledAt: typeof eventId === 'string' ? eventIdTime(eventId) : undefined,
    };
  });
  if (read.length === 0) return undefined;
  return read.sort((one, other) => kinds.indexOf(one.kind) - kinds.indexOf(other.kind));
}

/** Returns the words for an origin; if `isReturned`, the tool and the time of the earlier call follow. */
export function originWords({ kind }: PathOrigin): { readonly text: string; readonly isReturned: boolean } {
  const [text, isReturned = false] = words[kind];
  return { text, isReturned };
}

/** Returns the number of arguments that came from running text of a tool. */
export function countTexts(origins: readonly PathOrigin[]): number {
  return origins.filter(({ kind }) => kind === 'text').length;
}

/** Summarizes the origins of a call in a few words: "1 of 3 arguments from a tool’s text". */
export function originsSummary(origins: readonly PathOrigin[]): string {
  const texts = countTexts(origins);
  const all = `${origins.length} ${origins.length === 1 ? 'argument' : 'arguments'}`;
  if (texts === 0) return `Where ${all} came from`;
  return `${texts === origins.length ? all : `${texts} of ${all}`} from a tool’s text`;
}
