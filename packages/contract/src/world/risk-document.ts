import { isObject } from '../http/api-response.ts';
import { objects, values } from '../http/json-search.ts';

const dimensionCount = 10;

/** Contents of a risk result besides the dimensions. */
export type Explanation = 'factors' | 'recommendations';

/** Names that factors and recommendations may have. */
const namesOf: Readonly<Record<Explanation, RegExp>> = {
  factors: /factor|reason|explan|evidence|contrib|finding|signal|driver|cause|why|rationale|basis/i,
  recommendations: /recommend|advice|advis|mitigat|remed|suggest|action|guidance|step|to_?do|measure|fix/i,
};

/** Words in the names of numbers that are not a score. */
const noScoreWords = new Set(
  (
    'count counts events seen sessions number version revision time date timestamp at ms seconds duration elapsed ' +
    'ttl age limit max maximum min minimum scale size length weight page n id'
  ).split(' '),
);

/** `true` if a name such as `eventCount` or `event_count` is that of a number which is not a score. */
function isNoScore(name: string): boolean {
  const words = name
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_-]+/);
  return words.some((word) => noScoreWords.has(word));
}

/** Names of members that label or grade a record and explain nothing. */
const label =
  /^(_?id|.*_?id|.*Id|name|title|label|key|code|slug|level|band|grade|status|state|severity|category|kind|type|object|version|.*Version|.*Hash|.*_at|.*At)$/;

/** Names of totals next to the dimensions. */
const total = /overall|total|sum|aggregate|average|mean/i;

/** The ten dimensions of a risk result. */
export interface Dimensions {
  /** The list or the object that has them. */
  readonly container: unknown;
  readonly entries: readonly unknown[];
  /** Names of the entries in an object. */
  readonly names: ReadonlySet<string>;
}

function isAlike(entries: readonly unknown[]): boolean {
  return entries.every((entry) => typeof entry === 'number') || entries.every(isObject);
}

/** `true` if no two entries are the same, as a whole or by a label that all of them have. Numbers may be. */
function areDifferent(entries: readonly unknown[]): boolean {
  const isEachOther = (parts: readonly unknown[]) =>
    parts.includes(undefined) || new Set(parts.map((part) => JSON.stringify(part))).size === parts.length;
  if (!entries.every(isObject)) return true;
  const labels = ['id', 'key', 'code', 'name', 'title', 'dimension'];
  return isEachOther(entries) && labels.every((label) => isEachOther(entries.map((entry) => entry[label])));
}

/** Returns the list, or the object, with ten different entries of a kind; undefined if there is none. */
export function dimensionsOf(risk: unknown): Dimensions | undefined {
  for (const value of values(risk)) {
    if (Array.isArray(value) && value.length === dimensionCount && isAlike(value) && areDifferent(value))
      return { container: value, entries: value, names: new Set() };
  }
  for (const object of objects(risk)) {
    const members = Object.entries(object).filter(([name]) => !total.test(name));
    for (const isOfKind of [isObject, (value: unknown) => typeof value === 'number']) {
      const entries = members.filter(([name, value]) => isOfKind(value) && !isNoScore(name));
      if (entries.length === dimensionCount)
        return {
          container: object,
          entries: entries.map(([, value]) => value),
          names: new Set(entries.map(([name]) => name)),
        };
    }
  }
  return undefined;
}

/** Returns the numbers of the dimensions. */
export function scoresOf({ entries }: Dimensions): number[] {
  return entries.flatMap((entry) => [...values(entry).filter((value) => typeof value === 'number')]);
}

/** Yields the members of a risk result outside of its dimensions and of other lists. */
function* membersBeside(value: unknown, dimensions: Dimensions | undefined): Generator<[string, unknown]> {
  if (!isObject(value)) return;
  for (const [name, member] of Object.entries(value)) {
    if (value === dimensions?.container && dimensions.names.has(name)) continue;
    yield [name, member];
    yield* membersBeside(member, dimensions);
  }
}

/** `true` if a risk result has a number that can be the score of the session, besides those of its dimensions. */
export function hasScoreOfItsOwn(risk: unknown): boolean {
  return membersBeside(risk, dimensionsOf(risk)).some(
    ([name, member]) => typeof member === 'number' && !isNoScore(name),
  );
}

function isExplaining(value: unknown): boolean {
  return typeof value === 'string' ? value !== '' : typeof value === 'object' && value !== null;
}

/** `true` if a value with any name can be an explanation: a list, or a sentence of three words or more. */
function canExplain(value: unknown): boolean {
  return Array.isArray(value) || (typeof value === 'string' && value.trim().split(/\s+/).length >= 3);
}

/** Returns the names of members that could be an explanation with an unknown name. */
function unnamed(risk: unknown, dimensions: Dimensions | undefined): string[] {
  const inDimensions = (dimensions?.entries ?? []).flatMap((entry) =>
    isObject(entry) ? Object.entries(entry) : [],
  );
  const members = [...membersBeside(risk, dimensions), ...inDimensions];
  const found = members
    .filter(([name, value]) => canExplain(value) && !label.test(name))
    .filter(([, value]) => value !== dimensions?.container)
    .map(([name]) => name);
  return [...new Set(found)];
}

/**
 * Returns the fault of a risk result without factors or without recommendations; undefined if it has a member with a
 * usual name for them, or one more that could be them.
 */
export function explanationFault(risk: unknown, what: Explanation): string | undefined {
  const all = objects(risk).flatMap((object) => Object.entries(object));
  const isNamed = (one: Explanation) =>
    all.some(([name, value]) => namesOf[one].test(name) && isExplaining(value));
  if (isNamed(what)) return undefined;
  const other: Explanation = what === 'factors' ? 'recommendations' : 'factors';
  const names = unnamed(risk, dimensionsOf(risk)).filter((name) => !namesOf[other].test(name));
  const needed = isNamed(other) ? 1 : 2;
  if (names.length >= needed) return undefined;
  const rest = names.length > 0 ? ` (besides ${names.join(', ')})` : '';
  return `the risk has no member that could be its ${what}${rest}`;
}
