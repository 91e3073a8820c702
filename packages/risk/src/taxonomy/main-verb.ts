import { nounClasses } from './nouns.ts';
import { type Verb, type VerbClass, verbsByWord } from './verbs.ts';

/** The verb of a name: its class and the position of its word. */
export interface MainVerb {
  readonly verb: VerbClass;
  readonly at: number;
}

const looks: ReadonlySet<VerbClass> = new Set(['read', 'search', 'compute'] as const);
/** Verb classes that can have the prefix "re": "resend", but not "resort" or "resign". */
const doneAgain: ReadonlySet<VerbClass> = new Set([
  'read',
  'write',
  'send',
  'publish',
  'exec',
  'admin',
] as const);
/** Words that only introduce the next verb: "start_search", "make_payment". */
const light = new Set(['start', 'begin', 'make', 'initiate', 'use']);
/**
 * Words that execute the payment after them at the end of a name: "process_order", but not
 * "run_payment_report".
 */
const carryOut = new Set(['process', 'execute', 'run', 'perform']);
/**
 * Words that lead to the verb after them and are not nouns there: in "place_order", "place" is no location.
 */
export const leading: ReadonlySet<string> = new Set([...light, ...carryOut, 'place']);
/** Words that are never nouns. */
const neverNouns = new Set([
  'get',
  'create',
  'delete',
  'update',
  'add',
  'remove',
  'edit',
  'insert',
  'destroy',
]);
const makes = new Set(['create', 'add', 'insert']);
/**
 * Words that are nouns if an unambiguous verb follows: "share_delete", "record_get", "todo_list_add_item".
 */
const things = new Set(
  `list share label tag pin star record commit fork draft invite release build filter clone patch import export upload
  download backup query search`.split(/\s+/),
);
/** Words that are nouns at the end of a name: "git_log", "activity_report". */
const thingsAtTheEnd = new Set('log file note form report review index print plan'.split(' '));
/** Recipients of money after "transfer to"; any other recipient takes over the work. */
const takesMoney = new Set(
  `account accounts bank wallet iban card address balance savings checking payee recipient beneficiary merchant friend
  contact`.split(/\s+/),
);

/** Returns the verb of a word, also with the prefix "re" ("recreate", "redeploy"). */
export function verbOfWord(word: string): Verb | undefined {
  const verb = verbsByWord.get(word);
  if (verb !== undefined || !word.startsWith('re') || word.length < 5) return verb;
  const again = verbsByWord.get(word.slice(2));
  return again?.strong && doneAgain.has(again.class) ? again : undefined;
}

/** Returns the verb of a word that follows a leading word, also as in "process_payments". */
function verbBehind(word: string): Verb | undefined {
  const verb = verbOfWord(word);
  if (verb !== undefined || !word.endsWith('s')) return verb;
  const one = verbOfWord(word.slice(0, -1));
  return one?.class === 'pay' ? one : undefined;
}

function firstStrong(parts: readonly string[]): number {
  const at = parts.findIndex((part) => verbOfWord(part)?.strong);
  const first = parts[at] ?? '';
  if (!things.has(first) || (at === 0 && first === 'list')) return at;
  const after = parts.findIndex((part, place) => place > at && neverNouns.has(part));
  // Creating a share is sharing, but creating a search is not searching.
  const isTheSame = makes.has(parts[after] ?? '') && !looks.has((verbOfWord(first) as Verb).class);
  return after < 0 || isTheSame ? at : after;
}

/** Returns the verb that the first one leads to: "get_or_create", "find_and_replace", "start_search". */
function ledTo(parts: readonly string[], at: number): number {
  const { class: first } = verbOfWord(parts[at] as string) as Verb;
  const joined = ['or', 'and'].includes(parts[at + 1] ?? '');
  const to = joined ? at + 2 : at + 1;
  const next = verbBehind(parts[to] ?? '');
  if (next === undefined) return at;
  if (joined) return looks.has(first) && next.strong && !looks.has(next.class) ? to : at;
  if (carryOut.has(parts[at] as string)) return next.class === 'pay' && to === parts.length - 1 ? to : at;
  return light.has(parts[at] as string) && (next.class === 'search' || !looks.has(next.class)) ? to : at;
}

function weakVerb(parts: readonly string[], isServer: boolean): number {
  return parts.findIndex((part, at) => {
    const isThing = isServer || (at > 0 && at === parts.length - 1);
    return verbOfWord(part) !== undefined && !(isThing && thingsAtTheEnd.has(part));
  });
}

/**
 * `true` if the work goes to another agent, as in "transfer_to_triage" or "transferBackToSupervisor", unless
 * money is named.
 */
function handsOver(parts: readonly string[], at: number, server: readonly string[]): boolean {
  const to = parts[at + 1] === 'back' ? at + 2 : at + 1;
  if (parts[at] !== 'transfer' || parts[to] !== 'to' || parts.length <= to + 1) return false;
  if ([...server, ...parts.slice(0, at)].some((part) => nounClasses.get(part) === 'money')) return false;
  return !parts.slice(to).some((part) => takesMoney.has(part));
}

function mainVerbAt(parts: readonly string[], from: number, server: readonly string[]): MainVerb | undefined {
  if (from < 0) return undefined;
  const at = ledTo(parts, from);
  const verb = handsOver(parts, at, server) ? 'delegate' : (verbBehind(parts[at] as string) as Verb).class;
  return { verb, at };
}

/** Returns the main verb of a tool on a server; undefined if no verb is known. */
export function mainVerb(parts: readonly string[], server: readonly string[]): MainVerb | undefined {
  const strong = firstStrong(parts);
  return mainVerbAt(parts, strong < 0 ? weakVerb(parts, false) : strong, server);
}

/** Returns the main verb of a server's name; undefined if no verb is known. */
export function mainVerbOfServer(parts: readonly string[]): MainVerb | undefined {
  const strong = firstStrong(parts);
  return mainVerbAt(parts, strong < 0 ? weakVerb(parts, true) : strong, []);
}
