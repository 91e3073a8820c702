import { shortName } from './session/observe.ts';
import type { SessionState, ToolTally } from './session/session-state.ts';
import { tagBits } from './taxonomy/tag.ts';
import { nameParts, words } from './taxonomy/tokens.ts';
import { actKindOf, profileOf } from './taxonomy/tool-profile.ts';
import { mainVerb, type VerbClass } from './taxonomy/verbs.ts';

/** Maximum tools that a sentence names. */
const maxSteps = 5;

/** Maximum length of an object, so that a made-up name does not fill a page. */
const maxObjectLength = 40;

const untrusted = tagBits('ingest_untrusted');
const secret = tagBits('read_private', 'credential');

/** Past tenses that no rule gives, and of words that say little by themselves. */
const pastTenses: Readonly<Record<string, string>> = {
  get: 'looked up',
  lookup: 'looked up',
  read: 'read',
  find: 'found',
  see: 'saw',
  send: 'sent',
  resend: 'resent',
  write: 'wrote',
  make: 'made',
  put: 'put',
  set: 'set',
  unset: 'unset',
  reset: 'reset',
  run: 'ran',
  buy: 'bought',
  sell: 'sold',
  pay: 'paid',
  take: 'took',
  begin: 'began',
  build: 'built',
  rebuild: 'rebuilt',
  cut: 'cut',
  split: 'split',
  withdraw: 'withdrew',
  forget: 'forgot',
  think: 'thought',
  sleep: 'slept',
  broadcast: 'broadcast',
  leave: 'left',
  shutdown: 'shut down',
  undo: 'undid',
  rm: 'removed',
  del: 'deleted',
  ls: 'listed',
  dir: 'listed',
  cat: 'read',
  cp: 'copied',
  mv: 'moved',
  mkdir: 'created',
  exec: 'ran',
  execute: 'ran',
  eval: 'ran',
  init: 'initialized',
  sync: 'synced',
  login: 'signed in',
  logout: 'signed out',
  query: 'queried',
};

/** Verbs of more than one syllable whose last consonant doubles. */
const doubling = new Set('submit commit permit transfer refer format uninstall unban unpin debug'.split(' '));
/** End of verbs whose last consonant doubles if they have one syllable. */
const doubledEnd = /[^aeiou][aeiou][^aeiouwxy]$/;

/** Words after which a name no longer says what was acted on. */
const prepositions = new Set('by for from with using in into via of on to at and or'.split(' '));

/** Nouns without an article. */
const uncountable = new Set(
  `access activity availability billing code content data email feedback history info information inventory iban
  knowledge mail media memory metadata money music news research software stock text traffic weather work`.split(
    /\s+/,
  ),
);

/** Objects whose article is not "a". */
const phrases: Readonly<Record<string, string>> = {
  web: 'the web',
  internet: 'the internet',
  http: 'over HTTP',
  url: 'a web address',
  database: 'the database',
  db: 'the database',
  email: 'an email',
  mail: 'a mail',
  weather: 'the weather',
  time: 'the time',
  date: 'the date',
  status: 'the status',
  calendar: 'the calendar',
  inbox: 'the inbox',
};

/** Actions of tools whose name is no verb with an object, by the class of the verb. */
const plainActions: Readonly<Partial<Record<VerbClass, string>>> = {
  read: 'read files',
  search: 'searched',
  write: 'wrote files',
  exec: 'ran commands',
  drive: 'controlled a screen',
};

/** Well-known tools of coding agents, whose names have no object. */
const knownTools: Readonly<Record<string, string>> = {
  bash: 'ran commands',
  shell: 'ran commands',
  terminal: 'ran commands',
  exec: 'ran commands',
  read: 'read files',
  edit: 'edited files',
  multiedit: 'edited files',
  write: 'wrote files',
  grep: 'searched files',
  glob: 'searched files',
  ls: 'listed files',
  websearch: 'searched the web',
  webfetch: 'read a web page',
  todowrite: 'wrote a plan',
  task: 'started a subagent',
};

/** Returns the past tense of a verb. */
function pastOf(verb: string): string {
  if (Object.hasOwn(pastTenses, verb)) return pastTenses[verb] as string;
  if (verb.endsWith('e')) return `${verb}d`;
  if (/[^aeiou]y$/.test(verb)) return `${verb.slice(0, -1)}ied`;
  const isShort = (verb.match(/[aeiouy]+/g) ?? []).length === 1;
  const doubles = doubledEnd.test(verb) && (isShort || doubling.has(verb));
  return `${verb}${doubles ? verb.at(-1) : ''}ed`;
}

function isPlural(noun: string): boolean {
  return /[^su]s$/.test(noun) && !noun.endsWith('is');
}

function pluralOf(noun: string): string {
  if (/[^aeiou]y$/.test(noun)) return `${noun.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
}

/** Returns what was acted on, with its article: "an email", "customers", "files". */
function objectOf(nouns: readonly string[], isRepeated: boolean): string {
  const last = nouns.at(-1) ?? '';
  const text = nouns.join(' ').slice(0, maxObjectLength);
  if (text === '' || /^\d/.test(last) || isPlural(last)) return text;
  if (
    nouns.length === 1 &&
    Object.hasOwn(phrases, last) &&
    !(isRepeated && /^an? /.test(phrases[last] as string))
  ) {
    return phrases[last] as string;
  }
  if (isRepeated && !(uncountable.has(last) && last !== 'email' && last !== 'mail')) {
    return [...nouns.slice(0, -1), pluralOf(last)].join(' ').slice(0, maxObjectLength);
  }
  if (uncountable.has(last)) return text;
  return `${/^[aeio]|^u(?!s|n[ei])/.test(text) ? 'an' : 'a'} ${text}`;
}

/** Returns what calls of a tool did, in the past tense: "sent an email". */
function actionOf(toolName: string, isRepeated: boolean): string {
  const { namespace, base } = nameParts(toolName);
  const parts = words(base);
  const whole = parts.join('');
  if (Object.hasOwn(knownTools, whole)) return knownTools[whole] as string;
  const main = mainVerb(parts, words(namespace));
  const quoted = `used "${shortName(toolName)}"`;
  if (main === undefined) return quoted;
  const verb = parts[main.at] as string;
  const after = parts.slice(main.at + 1);
  const end = after.findIndex((word) => prepositions.has(word));
  const behind = end < 0 ? after : after.slice(0, end);
  const before = parts.slice(0, main.at).filter((word) => !prepositions.has(word));
  const nouns = behind.length > 0 ? behind : before;
  if (nouns.length === 0) {
    const plain = plainActions[main.verb];
    // "transfer_to_triage" and "post" say all there is to say.
    return (
      plain ??
      (end >= 0 ? `${pastOf(verb)} ${after.slice(end).join(' ').slice(0, maxObjectLength)}` : pastOf(verb))
    );
  }
  if (verb === 'fetch' || verb === 'browse' || verb === 'visit' || verb === 'open') {
    return `read ${objectOf(nouns, isRepeated)}`;
  }
  return `${pastOf(verb)} ${objectOf(nouns, isRepeated)}`;
}

/** Returns how much a tool says about a session; the heaviest first. */
function weightOf(toolName: string, tally: ToolTally): number {
  const profile = profileOf(toolName);
  switch (actKindOf(toolName, profile, tally.bits, profile.acts)) {
    case 'outgoing':
    case 'destructive':
      return 6;
    case 'execution':
      return 5;
    case 'record':
      return 4;
    case 'local':
      return 2;
    case 'read':
      return (tally.bits & untrusted) !== 0 || (tally.bits & secret) !== 0 ? 3 : 1;
  }
}

interface Step {
  readonly toolName: string;
  readonly weight: number;
  readonly firstMs: number;
  readonly isRepeated: boolean;
}

function joined(parts: readonly string[]): string {
  const last = parts.at(-1) ?? '';
  return parts.length < 2 ? last : `${parts.slice(0, -1).join(', ')} and ${last}`;
}

function tools(count: number): string {
  return `${count} other ${count === 1 ? 'tool' : 'tools'}`;
}

/** Returns what was tried in vain, the heaviest tool first; undefined for nothing. */
function failureOf([first, ...others]: readonly string[], isRefused: boolean): string | undefined {
  if (first === undefined) return undefined;
  if (others.length === 0) return `${first} ${isRefused ? 'was refused' : 'failed'}`;
  const names = `${first} and ${tools(others.length)}`;
  return `${names} ${isRefused ? 'were refused' : 'failed'}`;
}

/**
 * Returns what a session did in one sentence, from the calls that succeeded, in the order of time: "Read a web page, then
 * listed customers, sent an email and deleted a mail." It names the five tools that reach furthest, and the one of those
 * that only failed that does. Names of tools are the only text of the agent in it.
 *
 * @param toolNames - names of the session's tools; the state keeps long names only in part
 */
export function sentenceOf(state: SessionState, toolNames: readonly string[] = []): string {
  const kept = keptTools(state, toolNames).map(({ toolName, tally }) => ({
    toolName,
    tally,
    weight: weightOf(toolName, tally),
  }));
  const heaviest = (one: { weight: number }, other: { weight: number }) => other.weight - one.weight;
  const steps: Step[] = kept
    .filter(({ tally }) => tally.firstSuccessMs > 0)
    .map(({ toolName, tally, weight }) => ({
      toolName,
      weight,
      firstMs: tally.firstSuccessMs,
      isRepeated: tally.lastSuccessMs > tally.firstSuccessMs,
    }))
    .sort((one, other) => one.firstMs - other.firstMs);
  const chosen = new Set(steps.toSorted(heaviest).slice(0, maxSteps));
  const actions = [
    ...new Set(
      steps.filter((step) => chosen.has(step)).map((step) => actionOf(step.toolName, step.isRepeated)),
    ),
  ];
  const others = steps.length - chosen.size;
  const failed = kept
    .filter(({ tally }) => tally.firstSuccessMs === 0 && tally.lastFailedMs > 0)
    .sort(heaviest);
  const failure = failureOf(
    failed.map(({ toolName }) => shortName(toolName)),
    failed.every(({ tally }) => tally.firstRefusedMs > 0),
  );
  const [first, ...rest] = others > 0 ? [...actions, `used ${tools(others)}`] : actions;
  if (first === undefined) {
    if (failure !== undefined) return `Did nothing: ${failure}.`;
    return 'No tool call succeeded.';
  }
  const done = rest.length === 0 ? first : `${first}, then ${joined(rest)}`;
  const all = failure === undefined ? done : `${done}; ${failure}`;
  return `${all.charAt(0).toUpperCase()}${all.slice(1)}.`;
}

/** Returns the tools that a session keeps, with their whole names. */
function keptTools(state: SessionState, toolNames: readonly string[]) {
  const whole = new Map(toolNames.map((name) => [shortName(name), name]));
  return [...state.acting.entries(), ...state.looking.entries()].map(([, tally]) => ({
    toolName: whole.get(tally.name) ?? tally.name,
    tally,
  }));
}

/**
 * Returns how often a session called each tool that its state keeps, without calls that were refused, most called first.
 *
 * @param toolNames - names of the session's tools; the state keeps long names only in part
 */
export function toolCallsOf(
  state: SessionState,
  toolNames: readonly string[] = [],
): { readonly toolName: string; readonly calls: number }[] {
  return keptTools(state, toolNames)
    .map(({ toolName, tally }) => ({ toolName, calls: tally.count }))
    .sort((one, other) => other.calls - one.calls || (one.toolName < other.toolName ? -1 : 1));
}
