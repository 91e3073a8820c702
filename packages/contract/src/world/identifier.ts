import { type ApiResponse, isObject, type JsonObject } from '../http/api-response.ts';

/** Kinds of records with an identifier. */
export type IdentifiedKind = 'agents' | 'policies' | 'notificationChannels' | 'pendingActions';

/** A value of a record that may be its identifier. */
export interface IdentifierCandidate {
  /** Value as it is written in a path. */
  readonly text: string;
  /** Names of the members that lead to it; empty for the end of `Location`. */
  readonly path: readonly string[];
}

/** Maximum number of values that are tried as an identifier. */
const maxCandidates = 12;

/** Longest identifier, in characters. */
const longestIdentifier = 200;

/** Parts of the names that the identifier of a record may have, by kind. */
const ownNames: Readonly<Record<IdentifiedKind, RegExp>> = {
  agents: /agent/i,
  policies: /policy|rule/i,
  notificationChannels: /channel|hook|notification/i,
  pendingActions: /pending|action|hold|held|approval|request|ticket/i,
};

/** Values that identify nothing: times, addresses and sentences. */
const noIdentifier = /^\d{4}-\d\d-\d\d|:\/\/|\s/;

/** Ranks a member by its likelihood to be the record's identifier; lower is likelier. */
function rank(kind: IdentifiedKind, { text, path }: IdentifierCandidate, sent: readonly string[]): number {
  const name = path.at(-1) ?? 'id';
  const base = path.length - 1;
  if (noIdentifier.test(text)) return 300 + base;
  // Values that the run chose are names, or records of another kind.
  if (sent.some((value) => text === value || text.includes(value))) return 200 + base;
  if (/^_?(id|uuid|guid)$/i.test(name)) return base;
  if (/(^|[a-z_-])id$/i.test(name)) return (ownNames[kind].test(name) ? 10 : 40) + base;
  return (/^(ref|reference|key|number|no|nr|slug|arn|urn|handle|ticket|token)$/i.test(name) ? 20 : 30) + base;
}

function* scalars(object: JsonObject, path: readonly string[] = []): Generator<IdentifierCandidate> {
  for (const [name, value] of Object.entries(object)) {
    const here = [...path, name];
    if (isObject(value)) yield* scalars(value, here);
    const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
    if (isNumber || typeof value === 'string') yield { text: String(value), path: here };
  }
}

/**
 * Returns the strings and numbers of a record that may be its identifier, likeliest first. The specification requires
 * an identifier, but does not name it. `sent` are values of the run, which are tried last.
 */
export function identifierCandidates(
  kind: IdentifiedKind,
  record: unknown,
  sent: readonly string[] = [],
): IdentifierCandidate[] {
  if (!isObject(record)) return [];
  const found = [...scalars(record)]
    .filter(({ text }) => text.length > 0 && text.length <= longestIdentifier)
    .sort((left, right) => rank(kind, left, sent) - rank(kind, right, sent));
  const texts = found.map(({ text }) => text);
  return found.filter(({ text }, index) => texts.indexOf(text) === index).slice(0, maxCandidates);
}

/** Returns the last path segment of `Location` (RFC 9110, section 10.2.2), if it is valid. */
export function locationEnd({ headers }: ApiResponse): IdentifierCandidate[] {
  const [path = ''] = (headers.get('location') ?? '').split(/[?#]/, 1);
  const end = path.replace(/\/$/, '').split('/').pop() ?? '';
  try {
    return end === '' ? [] : [{ text: decodeURIComponent(end), path: [] }];
  } catch {
    return [];
  }
}

/** Returns the text or number at a path of a record, as it is written in a path; undefined if there is none. */
export function valueAt(record: unknown, path: readonly string[]): string | undefined {
  let value = record;
  for (const name of path) value = isObject(value) ? value[name] : undefined;
  return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
}
