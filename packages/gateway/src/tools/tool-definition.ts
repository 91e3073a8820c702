import { folded } from '../messages/json-rpc.ts';

/** Session and agent whose client lists or calls tools. */
export interface ToolCaller {
  readonly sessionId: string;
  readonly agentId: string | undefined;
}

/** Definition of a tool or a prompt, as far as it is pinned. Other members, such as `_meta` and `icons`, may change freely. */
export interface ToolDefinition {
  readonly name: string;
  readonly title?: unknown;
  readonly description?: unknown;
  readonly inputSchema?: unknown;
  readonly outputSchema?: unknown;
  readonly annotations?: unknown;
  /** Arguments of a prompt. */
  readonly arguments?: unknown;
}

const pinnedMembers = [
  'name',
  'title',
  'description',
  'inputSchema',
  'outputSchema',
  'annotations',
  'arguments',
] as const satisfies readonly (keyof ToolDefinition)[];

const pinned: ReadonlySet<string> = new Set(pinnedMembers);
const foldedMembers: ReadonlySet<string> = new Set(pinnedMembers.map(folded));

/**
 * Returns the pinned members of an element of `tools/list`, also in another case, because some clients ignore it; undefined
 * if it is not a tool with a name.
 */
export function toolDefinition(listed: unknown): ToolDefinition | undefined {
  if (!isObject(listed) || typeof listed.name !== 'string') return undefined;
  const members = Object.entries(listed).filter(([member]) => foldedMembers.has(folded(member)));
  return Object.fromEntries(members) as unknown as ToolDefinition;
}

/** Returns `true` if two definitions mean the same: the order of members, of `required` and of `enum` does not matter. */
export function isSameDefinition(left: ToolDefinition, right: ToolDefinition): boolean {
  return canonical(left) === canonical(right);
}

/** Lists of JSON Schema whose order has no meaning, and which some servers write in a random order. */
const unordered: ReadonlySet<string> = new Set(['required', 'enum']);

function canonical(value: unknown, member?: string): string {
  if (Array.isArray(value)) {
    const items = value.map((item) => canonical(item));
    return `[${(member !== undefined && unordered.has(member) ? items.sort() : items).join(',')}]`;
  }
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${canonical(value[name], name)}`);
  return `{${members.join(',')}}`;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Maximum length of a difference, in characters. */
const longestDifference = 8000;

/**
 * Returns the difference of two definitions as lines: a path, then what was there with `-`, and what is there now with
 * `+`. Characters that nobody can see are escaped.
 *
 * @param before - undefined for a new tool
 */
export function definitionDifference(before: ToolDefinition | undefined, after: ToolDefinition): string {
  const lines: string[] = [];
  const [old, now] = [before ?? {}, after].map((one) => new Map<string, unknown>(Object.entries(one)));
  for (const member of new Set<string>([...pinnedMembers, ...(old?.keys() ?? []), ...(now?.keys() ?? [])])) {
    if (member !== 'name' || !before) compare(visible(member), old?.get(member), now?.get(member), lines);
  }
  const text = lines.join('\n');
  return text.length > longestDifference ? `${text.slice(0, longestDifference)}…` : text;
}

function compare(path: string, before: unknown, after: unknown, lines: string[]): void {
  const name = path.slice(path.lastIndexOf('.') + 1);
  if (canonical(before, name) === canonical(after, name)) return;
  if (isObject(before) && isObject(after)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
      compare(`${path}.${visible(key)}`, before[key], after[key], lines);
    }
    return;
  }
  lines.push(path, ...changedLines(textOf(before), textOf(after)));
}

/** Returns the changed lines of a text, without the equal ones at its start and end. */
function changedLines(before: readonly string[], after: readonly string[]): string[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start += 1;
  let end = 0;
  const rest = Math.min(before.length, after.length) - start;
  while (end < rest && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [
    ...before.slice(start, before.length - end).map((line) => `  - ${visible(line)}`),
    ...after.slice(start, after.length - end).map((line) => `  + ${visible(line)}`),
  ];
}

function textOf(value: unknown): string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? value.split(/\r\n|\r|\n/) : [JSON.stringify(value)];
}

/** Characters that reorder, hide or break text. */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}]/gu;

/** Characters that belong to a visible text: presentation and joining of emoji, and joiners within words. */
const belonging =
  /(?<=\p{Emoji})\uFE0F|(?<=\p{Emoji}\uFE0F?)\u200D(?=\p{Emoji})|(?<=[\p{L}\p{M}])[\u200C\u200D](?=\p{L})|[\t\n\r]/gu;

/** Returns a text in which characters that nobody can see are escaped, such as `\u{200b}`. */
export function visible(text: string): string {
  return text.replaceAll(unseen, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

/**
 * Returns the reason why a definition cannot be trusted at first sight; undefined if there is none: a character that
 * nobody can see, in any of its texts, or a name that looks like another tool's name.
 *
 * @param others - names of the other tools of the server
 */
export function suspicion(definition: ToolDefinition, others: Iterable<string>): string | undefined {
  const { name } = definition;
  if (hides(name, false)) return 'its name has characters that nobody can see';
  if (textsOf(definition).some((text) => hides(text, true))) {
    return 'its definition has characters that nobody can see';
  }
  const odd = Object.keys(definition).find((member) => !pinned.has(member));
  if (odd !== undefined) return `it has the member ${JSON.stringify(visible(odd))} in another case`;
  if (mixesScripts(name)) return 'its name mixes the letters of several scripts';
  const own = skeleton(name);
  for (const other of others) {
    if (other !== name && skeleton(other) === own) {
      return `its name looks like that of the tool ${JSON.stringify(visible(other))}`;
    }
  }
  return undefined;
}

function hides(text: string, isProse: boolean): boolean {
  return (isProse ? text.replaceAll(belonging, '') : text).search(unseen) >= 0;
}

/** Returns all texts of a value, with the names of members. */
function textsOf(value: unknown): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') texts.push(next);
    else if (Array.isArray(next)) waiting.push(...next.filter((item) => item !== undefined));
    else if (isObject(next)) {
      texts.push(...Object.keys(next));
      waiting.push(...Object.values(next).filter((item) => item !== undefined));
    }
  }
  return texts;
}

/** Scripts with letters that look like Latin ones (Unicode Technical Standard 39, "Mixed-Script Confusables"). */
const confusableScripts =
  /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\p{Script=Coptic}\p{Script=Lisu}]/u;

function mixesScripts(name: string): boolean {
  return /\p{Script=Latin}/u.test(name) && confusableScripts.test(name);
}

/** Letters of other scripts that look like a Latin one, and Latin ones and digits that look like each other. */
const lookAlikes: ReadonlyMap<string, string> = new Map(
  Object.entries({
    a: 'аα',
    b: 'ЬВβ',
    c: 'сϲ',
    d: 'ԁ',
    e: 'еє',
    g: 'ɡ',
    h: 'һНн',
    i: 'іıι',
    j: 'јϳ',
    k: 'кκ',
    l: 'ӏ1|Ɩ',
    m: 'мΜ',
    n: 'пη',
    o: 'оοσ0օ',
    p: 'рρ',
    q: 'ԛ',
    s: 'ѕ',
    t: 'тτ',
    u: 'υսц',
    v: 'ѵν',
    w: 'ԝω',
    x: 'хχ',
    y: 'уγ',
    z: 'ζ',
  }).flatMap(([latin, others]) => [...others].map((letter) => [letter, latin] as const)),
);

/** Returns a form of a name that is equal for names that look alike. */
function skeleton(name: string): string {
  const plain = name.normalize('NFKD').replaceAll(/\p{M}/gu, '').replaceAll(unseen, '');
  const folded = [...plain].map((letter) => lookAlikes.get(letter) ?? letter).join('');
  const lower = [...folded.toLowerCase()].map((letter) => lookAlikes.get(letter) ?? letter).join('');
  return lower
    .replaceAll('i', 'l')
    .replaceAll('rn', 'm')
    .replaceAll('vv', 'w')
    .replaceAll(/[-_.\s‐-―]/g, '_');
}
