import { nounClasses } from './nouns.ts';

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
 * Words that lead to the verb after them and are not nouns there: in "place_order", "place" is not a location.
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

/** Classes of verbs by their effect on the object. The order is part of the stored format: append only. */
export const verbClasses = [
  'read',
  'search',
  'compute',
  'write',
  'send',
  'publish',
  'share',
  'delete',
  'pay',
  'exec',
  'admin',
  'auth',
  'remember',
  'delegate',
  'drive',
] as const;

/** One of {@link verbClasses}. */
export type VerbClass = (typeof verbClasses)[number];

/** A verb: its class, and `true` for words that are verbs anywhere in a name. */
interface Verb {
  readonly class: VerbClass;
  readonly strong: boolean;
}

const strongWords: Record<VerbClass, string> = {
  read: `get list read fetch retrieve show view describe inspect load peek dump tail cat head download pull query
    check verify enumerate find browse crawl scrape extract access see watch obtain receive print stat collect
    gather open export count monitor ls dir scan preview screenshot display visit diff blame ping has whoami
    introspect gets finds lists reads render transcribe ocr recall select observe aggregate`,
  search: 'search grep ripgrep glob discover explore ask lookup autocomplete suggest recommend research',
  compute: `calculate compute convert summarize summarise translate analyze analyse compare validate parse format
    classify evaluate estimate predict think reason reflect sleep wait finish generate encode decode detect lint
    visualize tokenize embed rank sort filter solve simulate respond brainstorm hash roll explain benchmark
    diagnose geocode echo multiply subtract divide sum plan`,
  write: `create add write update edit modify set put insert append save store replace rename move copy patch upsert
    change make complete close reopen resolve assign unassign mark label tag untag link unlink attach upload import
    sync init initialize commit stage rebase fork star unstar pin unpin reschedule duplicate clone record annotate
    configure toggle enable start begin apply build draft enter increment transition correct merge snooze accept
    reject approve decline dismiss finalize manage initiate turn fill rate vote like follow unfollow join leave customize reorder rearrange resize crop
    compress split combine stash restore backup lock unlock mutate alter migrate mkdir touch mv cp unarchive
    favorite bookmark submit acknowledge push register archive`,
  send: 'send notify reply react forward dispatch announce whisper dial resend deliver fax emit',
  publish: 'publish tweet retweet release broadcast toot',
  share: 'share invite expose',
  delete: `delete remove destroy drop purge erase wipe clear trash truncate cancel uninstall rm rmdir discard prune
    flush clean cleanup del kill terminate expire unset unpublish unregister reset`,
  pay: `pay buy purchase withdraw refund reserve donate subscribe tip remit payout repay disburse reimburse wire swap
    bid sell mint redeem rent checkout`,
  exec: `exec execute eval run spawn launch sudo install compile interpret npx pip bash zsh powershell psql repl
    subprocess invoke trigger retry`,
  admin: `grant revoke ban unban kick promote demote suspend block unblock impersonate authorize elevate deploy undeploy
    scale restart reboot shutdown provision rollback rollout upgrade downgrade deprovision disable chmod chown stop pause resume drain cordon
    failover override sanction mute deactivate activate reactivate`,
  auth: 'login logout authenticate signin signout signup rotate decrypt encrypt sign unseal',
  remember: 'remember memorize memorise forget learn retain',
  delegate: 'delegate handoff consult',
  drive: 'click type press scroll hover drag navigate goto tap swipe keypress',
};

// Words that are often nouns ("post", "order"): they only count if the name has no strong verb.
const weak: Partial<Record<VerbClass, string>> = {
  publish: 'post comment',
  send: 'email mail message text sms call alert chat dm webhook contact',
  pay: 'payment order book booking charge transfer trade exchange payroll bill',
  write:
    'schedule request report log file note form return track review index print plan management writer writing use',
  exec: 'command script code python terminal shell process cmd interpreter action',
  read: `status details detail history info information summary overview stats statistics metrics weather forecast time
    date balance snapshot reader`,
  admin: 'ban permission',
  drive: 'mouse keyboard computer act',
  delegate: 'escalate',
};

function vocabulary(): Map<string, Verb> {
  const verbs = new Map<string, Verb>();
  for (const [strong, lists] of [
    [true, strongWords],
    [false, weak],
  ] as const) {
    for (const [verbClass, words] of Object.entries(lists)) {
      for (const word of words.split(/\s+/)) {
        if (!verbs.has(word)) verbs.set(word, { class: verbClass as VerbClass, strong });
      }
    }
  }
  return verbs;
}

/** Verbs in tool names, by lower-case word. */
const verbsByWord: ReadonlyMap<string, Verb> = vocabulary();
