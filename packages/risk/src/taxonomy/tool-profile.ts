import { type NounClass, nounClasses } from './nouns.ts';
import { actionBits, type TagBits, type ToolTag, tagBits } from './tag.ts';
import { nameParts, segment, words } from './tokens.ts';
import { leading, type MainVerb, mainVerb, mainVerbOfServer, type VerbClass, verbOfWord } from './verbs.ts';

/**
 * Kinds of tools by how far their effects reach:
 *
 * - `outgoing`: sends, publishes or pays something, or changes rights and secrets;
 * - `destructive`: deletes something shared;
 * - `record`: changes a shared record, such as an event, a task or a row;
 * - `local`: works on the agent's files, code, notes or agents;
 * - `execution`: runs code or a command, or controls a computer;
 * - `read`: changes nothing.
 */
export const actKinds = ['outgoing', 'destructive', 'record', 'local', 'execution', 'read'] as const;

/** One of {@link actKinds}. */
export type ActKind = (typeof actKinds)[number];

const outgoing = tagBits('external_comm', 'payment', 'credential', 'admin');
const deleteBit = tagBits('delete');
const exec = tagBits('exec');
const internal = tagBits('agent_msg', 'memory_write');

/** Objects that others see as soon as they are written, although they are tasks. */
const tracked = new Set('discussion issue issues pr pull ticket'.split(' '));
/** Words for the agent's plan and working copy. */
const own = new Set('branch commit git plan repo stash todo todos worktree'.split(' '));

/** Returns the kind of a tool from its name, its classification, and its tags, which the tenant may have set. */
export function actKindOf(
  toolName: string,
  { noun, verb }: ToolProfile,
  bits: TagBits,
  acts: boolean,
): ActKind {
  if (!acts) return 'read';
  if (bits & outgoing) return 'outgoing';
  const base = words(nameParts(toolName).base);
  if (base.includes('push')) return 'outgoing';
  if (bits & exec) return 'execution';
  if (bits & deleteBit) return noun === 'code' ? 'local' : 'destructive';
  if (bits & internal) return 'local';
  if (noun === 'task' && base.some((word) => tracked.has(word))) return 'outgoing';
  if (noun === undefined || noun === 'code' || noun === 'fact' || noun === 'file') return 'local';
  return verb === 'write' && words(toolName).some((word) => own.has(word)) ? 'local' : 'record';
}

/** `true` if a tool reaches beyond local work. */
export function reachesBeyond(kind: ActKind): boolean {
  return kind === 'outgoing' || kind === 'destructive' || kind === 'record';
}

const untrusted = tagBits('ingest_untrusted');

/** Returns `true` if a tool reads text that unknown authors may have written: it has the tag `ingest_untrusted`. */
export function readsUntrusted(toolName: string): boolean {
  return (readToolName(toolName).bits & untrusted) !== 0;
}

type Senses = Readonly<Partial<Record<NounClass, VerbClass>>>;

/** Verbs whose meaning depends on their object. */
const wordSenses: Readonly<Record<string, Senses>> = {
  transfer: {
    rights: 'admin',
    infrastructure: 'admin',
    file: 'share',
    data: 'share',
    code: 'share',
    message: 'share',
    task: 'write',
    agent: 'delegate',
  },
  checkout: { file: 'write', code: 'write', data: 'write' },
  upgrade: { money: 'pay' },
  call: { infrastructure: 'exec', code: 'exec', web: 'exec', fact: 'exec', agent: 'delegate' },
  use: { infrastructure: 'exec', code: 'exec', web: 'exec', fact: 'exec', agent: 'delegate' },
  evaluate: { code: 'exec', web: 'exec' },
  respond: { message: 'send', opinion: 'send', calendar: 'send', task: 'send' },
  fill: { web: 'drive' },
  select: { web: 'drive' },
  assign: { agent: 'delegate' },
  ask: { agent: 'delegate' },
};

/** Returns the meaning of a verb for an object. */
function senseOf(word: string, usual: VerbClass, noun: NounClass | undefined): VerbClass {
  const senses = noun === undefined || !Object.hasOwn(wordSenses, word) ? undefined : wordSenses[word];
  return senses?.[noun as NounClass] ?? usual;
}

const keepInPlace = new Set(
  `move copy mark label tag untag pin unpin star unstar archive unarchive snooze favorite bookmark rename save store
  duplicate backup draft dismiss acknowledge reorder rearrange`.split(/\s+/),
);

/** `true` if a verb only organizes objects, so that applying it to a message does not send it. */
function keepsInPlace(word: string): boolean {
  return keepInPlace.has(word);
}

/** Classification of a tool by its name. */
export interface ToolProfile {
  /** Tags as bits. */
  readonly bits: TagBits;
  /** Class of the verb; undefined if no verb is known. */
  readonly verb: VerbClass | undefined;
  /** Class of the object; undefined if no noun is known. */
  readonly noun: NounClass | undefined;
  /** `true` if the tool changes something instead of reading. */
  readonly acts: boolean;
}

/** `true` if the taxonomy knows the word as a verb or a noun. */
export function isKnownWord(word: string): boolean {
  return verbOfWord(word) !== undefined || nounClasses.has(word);
}

/** Nouns for objects whose text third parties write. */
const authoredByOthers: ReadonlySet<NounClass> = new Set([
  'message',
  'web',
  'file',
  'calendar',
  'task',
  'opinion',
  'code',
  'memory',
  'data',
  'money',
  'purchase',
  'agent',
] as const);
/** Nouns for public or impersonal objects. */
const publicWords: ReadonlySet<NounClass> = new Set(['web', 'fact', 'place', 'opinion'] as const);
/** Nouns for objects that reach other people as soon as they are written. */
const reachesOthers: ReadonlySet<NounClass> = new Set(['message', 'opinion'] as const);

function readTags(noun: NounClass | undefined): ToolTag[] {
  if (noun === undefined) return ['read_private', 'ingest_untrusted'];
  const tags: ToolTag[] = [];
  if (!publicWords.has(noun)) tags.push('read_private');
  if (authoredByOthers.has(noun)) tags.push('ingest_untrusted');
  if (noun === 'credential') tags.push('credential');
  return tags;
}

function writeTags(noun: NounClass | undefined, word: string): ToolTag[] {
  if (noun === 'memory') return ['memory_write'];
  if (noun === 'credential') return ['credential', 'write'];
  if (noun === 'rights' || noun === 'infrastructure') return ['admin', 'write'];
  if (noun === 'purchase' || noun === 'money') return ['payment', 'write'];
  if (noun === 'identity') return ['admin', 'write'];
  if (noun !== undefined && reachesOthers.has(noun) && !keepsInPlace(word)) return ['external_comm', 'write'];
  return ['write'];
}

function deleteTags(noun: NounClass | undefined, word: string): ToolTag[] {
  if (noun === 'memory') return ['delete', 'memory_write'];
  if (noun === 'credential') return ['delete', 'credential'];
  if (noun === 'rights' || noun === 'infrastructure') return ['delete', 'admin'];
  if (word === 'cancel' && (noun === 'money' || noun === 'purchase')) return ['delete', 'payment'];
  return ['delete'];
}

function tagsFor(verb: VerbClass | undefined, noun: NounClass | undefined, word: string): ToolTag[] {
  switch (verb) {
    case undefined:
      // A tool that is only named after an agent sends a request to it: "research_agent".
      if (noun === 'agent') return ['agent_msg'];
      return noun === undefined ? ['unknown'] : readTags(noun);
    case 'read':
      return readTags(noun);
    case 'search':
      return readTags(noun ?? 'web');
    case 'compute':
      return noun !== undefined && (noun === 'file' || noun === 'web' || noun === 'message')
        ? readTags(noun)
        : [];
    case 'write':
      return writeTags(noun, word);
    case 'send':
    case 'publish':
    case 'share':
      if (noun === 'agent') return ['agent_msg'];
      return noun === 'money' ? ['payment', 'external_comm'] : ['external_comm'];
    case 'delete':
      return deleteTags(noun, word);
    case 'pay':
      return noun === 'agent' ? ['agent_msg'] : ['payment'];
    case 'exec':
      if (noun === 'agent') return ['agent_msg'];
      return noun === 'data' ? ['exec', 'read_private'] : ['exec'];
    case 'admin':
      return ['admin'];
    case 'auth':
      return ['credential'];
    case 'remember':
      return ['memory_write'];
    case 'delegate':
      return ['agent_msg'];
    case 'drive':
      return ['exec'];
  }
}

function vocabularyWords(text: string): string[] {
  return words(text).flatMap((word) => (isKnownWord(word) ? [word] : segment(word, isKnownWord)));
}

function nounOf(parts: readonly string[], verbAt: number): NounClass | undefined {
  // "get_day_calendar_events": the last noun is the object, the ones before describe it.
  let found: NounClass | undefined;
  for (const [at, part] of parts.entries()) {
    if (at === verbAt || (at === verbAt - 1 && leading.has(part))) continue;
    if (
      at > verbAt &&
      verbAt >= 0 &&
      ['by', 'for', 'from', 'with', 'using', 'in', 'via', 'of'].includes(part) &&
      found
    )
      break;
    const noun = nounClasses.get(part);
    if (noun !== undefined && (noun !== 'fact' || found === undefined)) found = noun;
  }
  return found;
}

/** Returns the object of a payment from its verb if nothing else is named: "make_payment", "place_order". */
function boughtBy(parts: readonly string[], main: MainVerb | undefined): NounClass | undefined {
  return main?.verb === 'pay' ? nounClasses.get(parts[main.at] as string) : undefined;
}

/** Classifies a tool name. Pure; see `profileOf` for the cached version. */
export function readToolName(toolName: string): ToolProfile {
  const { namespace, base } = nameParts(toolName);
  const server = vocabularyWords(namespace.slice(namespace.lastIndexOf('__') + 1));
  let parts = vocabularyWords(base);
  let main = mainVerb(parts, server);
  const noun = nounOf(parts, main?.at ?? -1) ?? boughtBy(parts, main) ?? nounOf(server, -1);
  if (main === undefined) {
    parts = server;
    main = mainVerbOfServer(server);
  }
  const word = parts[main?.at ?? -1] ?? '';
  const verb = main && senseOf(word, main.verb, noun);
  const bits = tagBits(...tagsFor(verb, noun, word));
  return { bits, verb, noun, acts: (bits & actionBits) !== 0 };
}

const maxRemembered = 4096;
const remembered = new Map<string, ToolProfile>();

/** Classifies a tool name; caches the last few thousand names. */
export function profileOf(toolName: string): ToolProfile {
  let profile = remembered.get(toolName);
  if (profile === undefined) {
    profile = readToolName(toolName);
    if (remembered.size >= maxRemembered) remembered.clear();
    remembered.set(toolName, profile);
  }
  return profile;
}
