import type { Policy, PolicyCreate, PolicyEffect } from '@actlog/client';
import { lengthText, parseLength } from './policy-sentence.ts';

/** A complete policy from a form: empty fields are null, so that a change removes them. */
export type PolicyDraft = PolicyCreate & { readonly match: Matches };

type Matches = NonNullable<PolicyCreate['match']>;

/** Default timeout of an approval in seconds. */
export const defaultTimeoutSeconds = 900;

const matchLists = ['agents', 'tools', 'frameworks', 'environments'] as const;

/** Fields that have several values, one in each input. */
export const listFields = [...matchLists, 'approverKeys', 'approverGroups', 'editable'] as const;

/** Returns the form fields of a policy; of a new one, which decides nothing yet, if it is undefined. */
export function policyFields(policy: Policy | undefined) {
  const { match = {}, rate, approval } = policy ?? {};
  return {
    name: policy?.name ?? '',
    description: policy?.description ?? '',
    effect: policy?.effect ?? 'deny',
    mode: policy ? (policy.mode ?? 'enforce') : 'log_only',
    priority: String(policy?.priority ?? 0),
    agents: match.agents?.join('\n') ?? '',
    tools: match.tools?.join('\n') ?? '',
    frameworks: match.frameworks?.join('\n') ?? '',
    environments: match.environments?.join('\n') ?? '',
    condition: policy?.condition ?? '',
    message: policy?.message ?? '',
    rateMax: String(rate?.max ?? ''),
    rateWindow: lengthText(rate?.windowSeconds ?? 60),
    ratePer: rate?.per ?? 'agent',
    timeout: approval ? lengthText(approval.timeoutSeconds) : '',
    onTimeout: approval?.onTimeout ?? 'deny',
    singleUse: approval?.singleUse ? 'on' : '',
    requiredApprovers: String(approval?.requiredApprovers ?? 1),
    approverKeys: approval?.approverKeys?.join('\n') ?? '',
    approverGroups: approval?.approverGroups?.join('\n') ?? '',
    notRequester: approval?.notRequester ? 'on' : '',
    editable: approval?.editable?.map((argument) => JSON.stringify(argument)).join('\n') ?? '',
    verifiedPrincipal: approval?.verifiedPrincipal ? 'on' : '',
    scheduleZone: policy?.schedule?.timeZone ?? '',
    scheduleDays: policy?.schedule?.days?.join(', ') ?? '',
    scheduleFrom: policy?.schedule?.from ?? '',
    scheduleTo: policy?.schedule?.to ?? '',
  };
}

/** Form fields by name. */
export type PolicyFields = Readonly<Record<keyof ReturnType<typeof policyFields>, string>>;

function text(field = ''): string | null {
  return field.replaceAll(/\r\n?/g, '\n').trim() || null;
}

/**
 * Returns the patterns of a field, separated by lines or commas. A pattern that the policy already has may contain
 * commas and outer spaces itself, and stays unchanged.
 */
function patterns(field = '', known: readonly string[] = []): string[] {
  return field
    .split(/\r?\n/)
    .flatMap((line) => (known.includes(line) ? [line] : line.split(',').map((pattern) => pattern.trim())))
    .filter(Boolean);
}

/** Returns the groups of a field, one per line: the name of a group may contain commas. */
function groupsIn(field = '', known: readonly string[] = []): string[] {
  return field
    .split(/\r?\n/)
    .map((line) => (known.includes(line) ? line : line.trim()))
    .filter(Boolean);
}

/**
 * Reads the form of a policy. An empty number field is 0, which the service then rejects by name.
 *
 * @param policy - policy to change; lists that are empty now are removed with null, as in a merge patch
 */
export function readPolicy(fields: Partial<PolicyFields>, policy?: Policy): PolicyDraft {
  const match = matchLists
    .map((name) => [name, patterns(fields[name], policy?.match?.[name])] as const)
    .filter(([, globs]) => policy !== undefined || globs.length > 0)
    .map(([name, globs]) => [name, globs.length > 0 ? globs : null]);
  return {
    name: text(fields.name) ?? '',
    description: text(fields.description),
    effect: fields.effect as PolicyEffect,
    mode: fields.mode === 'log_only' ? 'log_only' : 'enforce',
    priority: Number(fields.priority),
    match: Object.fromEntries(match) as Matches,
    condition: text(fields.condition),
    message: text(fields.message),
    rate:
      text(fields.rateMax) === null
        ? null
        : {
            max: Number(fields.rateMax),
            windowSeconds: parseLength(fields.rateWindow ?? ''),
            per: fields.ratePer as 'agent' | 'session' | 'tenant',
          },
    approval: readApproval(fields, policy),
    ...readSchedule(fields, policy),
  };
}

/** Names of the days that a schedule can have. */
type Day = NonNullable<NonNullable<PolicyCreate['schedule']>['days']>[number];

/**
 * Reads the part of the form about times; nothing for a policy that has none and gets none, which other services may not
 * know. Empty fields of a known schedule are removed with null, as in a merge patch.
 */
function readSchedule(fields: Partial<PolicyFields>, policy: Policy | undefined): Partial<PolicyDraft> {
  const before = policy?.schedule;
  const timeZone = text(fields.scheduleZone);
  const days = patterns(fields.scheduleDays).map((day) => day.toLowerCase()) as Day[];
  const [from, to] = [text(fields.scheduleFrom), text(fields.scheduleTo)];
  if (timeZone === null && days.length === 0 && from === null && to === null) {
    return before ? { schedule: null } : {};
  }
  const given = { days: days.length > 0 ? days : null, from, to };
  const kept = Object.entries(given).filter(([name, value]) => value !== null || (before && name in before));
  return { schedule: { timeZone: timeZone ?? '', ...Object.fromEntries(kept) } };
}

/** Reads the part of the form about approvals; null if all of it has its default. */
function readApproval(fields: Partial<PolicyFields>, policy: Policy | undefined): PolicyDraft['approval'] {
  if (fields.effect !== 'require_approval') return null;
  const before = policy?.approval;
  const onTimeout = fields.onTimeout === 'allow' ? 'allow' : 'deny';
  const singleUse = fields.singleUse === 'on';
  const notRequester = fields.notRequester === 'on';
  const verifiedPrincipal = fields.verifiedPrincipal === 'on';
  const requiredApprovers = Number(fields.requiredApprovers ?? 1);
  const keys = patterns(fields.approverKeys, before?.approverKeys ?? []);
  const groups = groupsIn(fields.approverGroups, before?.approverGroups ?? []);
  const hasDefaultEnd = text(fields.timeout) === null && onTimeout === 'deny';
  const editable = readEditable(fields.editable);
  const hasRules =
    singleUse ||
    notRequester ||
    verifiedPrincipal ||
    requiredApprovers !== 1 ||
    keys.length > 0 ||
    groups.length > 0 ||
    editable.length > 0;
  if (hasDefaultEnd && !hasRules) return null;
  return {
    timeoutSeconds: hasDefaultEnd ? defaultTimeoutSeconds : parseLength(fields.timeout ?? ''),
    onTimeout,
    // A merge patch keeps omitted fields.
    ...((singleUse || before?.singleUse) && { singleUse }),
    ...((notRequester || before?.notRequester) && { notRequester }),
    ...((verifiedPrincipal || before?.verifiedPrincipal) && { verifiedPrincipal }),
    ...((requiredApprovers !== 1 || before?.requiredApprovers) && { requiredApprovers }),
    ...(keys.length > 0 && { approverKeys: keys }),
    // Only a merge patch, which is sent for a known policy, can remove the list.
    ...(keys.length === 0 && before?.approverKeys && { approverKeys: null as unknown as string[] }),
    ...(groups.length > 0 && { approverGroups: groups }),
    ...(groups.length === 0 && before?.approverGroups && { approverGroups: null as unknown as string[] }),
    ...(editable.length > 0 && { editable }),
    ...(editable.length === 0 && before?.editable && { editable: null as unknown as Editable[] }),
  };
}

type Editable = NonNullable<NonNullable<PolicyCreate['approval']>['editable']>[number];

/** Reads the arguments that an approver may change, one JSON object per line. The service rejects what is none. */
function readEditable(field = ''): Editable[] {
  const lines = field.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    try {
      return JSON.parse(line) as Editable;
    } catch {
      return line as unknown as Editable;
    }
  });
}

/** Argument that an approver may change, as the form shows it. */
export interface EditableRow {
  readonly path: string;
  readonly kind: keyof typeof editableKinds;
  /** Highest number, or a range such as `100 to 500`; strings with commas between them; a whole JSON object for `other`. */
  readonly limit: string;
}

/** Kinds of limits of an argument that an approver may change. */
export const editableKinds = {
  number: 'a number up to',
  list: 'fewer of its elements',
  choice: 'one of the texts',
  text: 'any text',
  other: 'as in this JSON',
} as const;

/** Returns an argument that an approver may change as the form shows it. */
export function editableRow(json: string): EditableRow {
  let parsed: Partial<Editable> = {};
  try {
    parsed = JSON.parse(json) as Editable;
  } catch {
    // The service names what is wrong with it.
  }
  const { path = '', max, min, subset, oneOf, anyText } = parsed;
  if (subset) return { path, kind: 'list', limit: '' };
  if (anyText) return { path, kind: 'text', limit: '' };
  if (max !== undefined && min === undefined) return { path, kind: 'number', limit: String(max) };
  if (max !== undefined) return { path, kind: 'number', limit: `${min} to ${max}` };
  if (oneOf && !oneOf.some((one) => one.includes(',') || one !== one.trim())) {
    return { path, kind: 'choice', limit: oneOf.join(', ') };
  }
  return { path, kind: 'other', limit: json };
}

/** Returns the argument of a row as JSON, which the service checks. */
export function editableJson({ path, kind, limit }: EditableRow): string {
  if (kind === 'other') return limit.replaceAll('\n', ' ');
  const [, min, range] = /^\s*(\S+)\s+to\s+(\S+)\s*$/.exec(limit) ?? [];
  const limits = {
    number: { max: Number(range ?? limit), ...(min !== undefined && { min: Number(min) }) },
    list: { subset: true },
    choice: { oneOf: limit.split(',').map((one) => one.trim()) },
    text: { anyText: true },
  }[kind];
  return JSON.stringify({ path: path.trim(), ...limits });
}

function changed<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const given = Object.entries(after) as [keyof Fields, unknown][];
  return Object.fromEntries(
    given.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  ) as Partial<Fields>;
}

/**
 * Returns the fields that the user changed. All others stay exactly as they are stored or as other users change them.
 */
export function policyChanges(policy: Policy, fields: PolicyFields): Partial<PolicyDraft> {
  const before = readPolicy(policyFields(policy), policy);
  const after = readPolicy(fields, policy);
  const match = changed(before.match, after.match);
  const { match: _whole, ...rest } = changed(before, after);
  return { ...rest, ...(Object.keys(match).length > 0 && { match }) };
}

/** `true` for a list that leaves nothing out. */
function isEvery(globs: readonly string[] | null | undefined): boolean {
  return !globs?.length || globs.some((glob) => /^\*+$/.test(glob));
}

/** `true` if a policy matches every tool of every agent, always. */
export function matchesEverything({ match, condition, rate, schedule }: PolicyDraft): boolean {
  return matchLists.every((list) => isEvery(match[list])) && !condition && !rate && !schedule;
}

/**
 * `true` if the user should know the reach of a policy before it is saved. A condition does not narrow a denial: it counts
 * as a match where it cannot be evaluated.
 */
export function isBroad(draft: PolicyDraft): boolean {
  const denies = draft.mode !== 'log_only' && draft.effect === 'deny';
  return matchesEverything(draft) || (denies && isEvery(draft.match.tools));
}
