import type { PolicyCreate } from '@actlog/client';

/** Part of a policy's sentence. */
export interface SentencePart {
  readonly text: string;
  /** Names and values are written by users; decisions have a color. */
  readonly kind?: 'name' | 'code' | 'arrow' | PolicyCreate['effect'];
}

/** Fields of a policy that its sentence is made from. */
export type DescribedPolicy = {
  readonly [Name in 'effect' | 'mode' | 'match' | 'condition' | 'rate' | 'approval' | 'schedule']?:
    | PolicyCreate[Name]
    | null
    | undefined;
};

/** Maximum number of names in a list; the others are counted. */
const maxNames = 4;

/** Maximum characters of a condition in CEL; the rest is left out. */
const maxConditionCharacters = 120;

const verbs = { allow: 'allow', deny: 'deny', require_approval: 'ask a person' } as const;

/**
 * Returns a policy in one sentence, such as "When billing calls refund* with amount > 500 → ask a person". Fields that
 * the service omits have their defaults.
 */
export function policySentence(policy: DescribedPolicy): SentencePart[] {
  const { effect, mode, match, rate } = policy;
  const { agents, tools, frameworks, environments } = match ?? {};
  return [
    { text: 'When ' },
    ...namesOr('any agent', agents),
    ...(frameworks?.length ? [{ text: ' on ' }, ...namesOr('', frameworks)] : []),
    ...(environments?.length ? [{ text: ' in ' }, ...namesOr('', environments)] : []),
    { text: ' calls ' },
    ...namesOr('any tool', tools),
    ...conditionParts(policy.condition),
    ...(rate ? [{ text: rateText(rate) }] : []),
    ...scheduleParts(policy.schedule),
    { text: ' → ', kind: 'arrow' },
    ...(mode === 'log_only' ? [{ text: 'only log' }, { text: ', would ' }] : []),
    ...decisionParts(effect, policy.approval),
  ];
}

/** Returns names with "or" before the last one, as in "a, b or c", or with the number of those that are left out. */
function namesOr(none: string, given: readonly string[] | null | undefined): SentencePart[] {
  const names = given ?? [];
  if (names.length === 0) return [{ text: none }];
  const shown = names.length > maxNames + 1 ? names.slice(0, maxNames) : names;
  const rest = names.length - shown.length;
  return [
    ...shown.flatMap((name, index): SentencePart[] => {
      const isLast = rest === 0 && index === shown.length - 1;
      const between = isLast ? ' or ' : ', ';
      return [...(index === 0 ? [] : [{ text: between }]), { text: name, kind: 'name' }];
    }),
    ...(rest > 0 ? [{ text: ` or ${rest} others` }] : []),
  ];
}

function conditionParts(condition: string | null | undefined): SentencePart[] {
  if (!condition) return [];
  const clauses = parseClauses(condition);
  if (clauses === undefined) {
    const line = condition.replaceAll(/\s+/g, ' ').trim();
    const isLong = line.length > maxConditionCharacters;
    return [
      { text: ' if ' },
      { text: isLong ? `${line.slice(0, maxConditionCharacters)}…` : line, kind: 'code' },
    ];
  }
  return clauses.flatMap(({ path, operator, value }, index): SentencePart[] => [
    { text: index === 0 ? ' with ' : ' and ' },
    { text: path, kind: 'name' },
    { text: ` ${operatorTexts[operator]} ` },
    { text: value === '' ? '""' : value, kind: 'name' },
  ]);
}

function rateText({ max, windowSeconds, per }: NonNullable<PolicyCreate['rate']>): string {
  const times = max === 1 ? 'once' : `${max.toLocaleString('en-US')} times`;
  const scope = { agent: 'by one agent', session: 'in one session', tenant: 'by all agents' }[per];
  return ` more than ${times} in ${lengthText(windowSeconds)} ${scope}`;
}

function scheduleParts(schedule: PolicyCreate['schedule'] | null): SentencePart[] {
  if (!schedule) return [];
  const { days, from, to, timeZone } = schedule;
  const hours = from || to ? ` from ${from || '00:00'} to ${to || '24:00'}` : '';
  return [{ text: ` on ${days?.join(', ') || 'every day'}${hours} (${timeZone})` }];
}

function decisionParts(
  effect: PolicyCreate['effect'] | null | undefined,
  approval: PolicyCreate['approval'] | null,
): SentencePart[] {
  if (!effect) return [{ text: 'decide' }];
  if (effect !== 'require_approval') return [{ text: verbs[effect], kind: effect }];
  const { requiredApprovers = 1, approverGroups, approverKeys, notRequester, onTimeout } = approval ?? {};
  const people = requiredApprovers > 1 ? `ask ${requiredApprovers} people` : verbs.require_approval;
  return [
    { text: people, kind: effect },
    ...(approverGroups?.length ? [{ text: ' of ' }, ...namesOr('', approverGroups)] : []),
    ...(approverKeys?.length ? [{ text: ' with ' }, ...namesOr('', approverKeys)] : []),
    ...(notRequester ? [{ text: ', not the requester' }] : []),
    // The default is to deny, which nobody has to read.
    ...(approval && onTimeout === 'allow'
      ? [{ text: ', allow after ' }, { text: lengthText(approval.timeoutSeconds) }]
      : []),
  ];
}

/** One comparison of an argument. */
export interface Clause {
  /** Names of nested objects, joined with dots, such as `amount` or `to.country`. */
  readonly path: string;
  readonly operator: keyof typeof operatorTexts;
  /** Number, `true`, `false` or string, in quotes if it looks like one of the others. */
  readonly value: string;
}

/** Comparisons that the builder has, with their words. */
export const operatorTexts = {
  '>': '>',
  '>=': '≥',
  '<': '<',
  '<=': '≤',
  '==': 'is',
  '!=': 'is not',
  contains: 'contains',
  startsWith: 'starts with',
  endsWith: 'ends with',
} as const;

const methods: ReadonlySet<string> = new Set(['contains', 'startsWith', 'endsWith']);

/** Names that CEL does not accept as a field. */
const reserved =
  /^(?:as|break|const|continue|else|false|for|function|if|import|in|let|loop|namespace|null|package|return|true|var|void|while)$/;

const text = String.raw`"(?:[^"\\]|\\.)*"`;
const literal = /^(?:-?\d+(?:\.\d+)?|true|false)$/;
const clause = new RegExp(
  String.raw`args((?:\.[A-Za-z_]\w*|\[${text}\])+)(?: (>=|<=|[<>]|[=!]=) (-?\d+(?:\.\d+)?|true|false|${text})|\.(contains|startsWith|endsWith)\((${text})\))`,
  'y',
);

/** Returns the condition in CEL that all comparisons together are. */
export function formatClauses(clauses: readonly Clause[]): string {
  return clauses
    .map(({ path, operator, value }) => {
      const argument = `args${path.split('.').map(step).join('')}`;
      if (methods.has(operator)) return `${argument}.${operator}(${JSON.stringify(unquoted(value))})`;
      return `${argument} ${operator} ${literal.test(value) ? value : JSON.stringify(unquoted(value))}`;
    })
    .join(' && ');
}

function step(name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) && !reserved.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** Returns a string without its quotes, if it has some. */
function unquoted(value: string): string {
  return parsedText(value) ?? value;
}

function parsedText(quoted: string): string | undefined {
  if (!quoted.startsWith('"')) return undefined;
  try {
    const parsed: unknown = JSON.parse(quoted);
    return typeof parsed === 'string' ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the comparisons that a condition consists of; undefined if the builder cannot express it exactly, so that it
 * would not get the same text back.
 */
export function parseClauses(condition: string): Clause[] | undefined {
  const found: Clause[] = [];
  for (let at = 0; at < condition.length; at += ' && '.length) {
    clause.lastIndex = at;
    const [all = '', path = '', comparison, value, method, argument] = clause.exec(condition) ?? [];
    if (all === '') return undefined;
    at += all.length;
    if (at < condition.length && !condition.startsWith(' && ', at)) return undefined;
    found.push({
      path: [...path.matchAll(new RegExp(String.raw`\.(\w+)|\[(${text})\]`, 'g'))]
        .map(([, name, quoted = '']) => name ?? parsedText(quoted) ?? '')
        .join('.'),
      operator: (comparison ?? method) as Clause['operator'],
      value: valueText(value ?? argument ?? '', method !== undefined),
    });
  }
  return formatClauses(found) === condition ? found : undefined;
}

/** Returns a literal as the builder shows it: without quotes, unless it would be read as something else. */
function valueText(written: string, isMethod: boolean): string {
  const string = parsedText(written);
  if (string === undefined) return written;
  return (!isMethod && literal.test(string)) || string.startsWith('"') ? written : string;
}

const units = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
] as const;

/** Returns a length of time in the largest unit that fits exactly: "1 hour", "90 seconds". */
export function lengthText(seconds: number): string {
  const [unit, size] = units.find(([, length]) => seconds % length === 0) ?? ['second', 1];
  const count = seconds / size;
  return count === 1 ? `1 ${unit}` : `${count} ${unit}s`;
}

const secondsOf: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Pattern of {@link parseLength}, for an input. */
export const lengthPattern = String.raw`\s*\d+(?:\.\d+)?\s*(?:[smhdwSMHDW]|[sS]ec|[mM]in|(?:[sS]econd|[mM]inute|[hH]our|[dD]ay|[wW]eek)s?)\s*`;

/** Returns a length of time such as "15 min", "1.5 h" or "2 days" in seconds; 0, which the service refuses, for no length. */
export function parseLength(length: string): number {
  if (!new RegExp(`^${lengthPattern}$`).test(length)) return 0;
  const [, unit = ''] = /([a-z])[a-z]*\s*$/i.exec(length) ?? [];
  return Math.round(Number.parseFloat(length) * (secondsOf[unit.toLowerCase()] ?? 0));
}
