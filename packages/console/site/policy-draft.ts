import type { Policy, PolicyCreate, PolicyEffect } from '@actlog/client';

/** A whole policy as a form gives it: what is empty is null, so that a change takes it away. */
export type PolicyDraft = PolicyCreate & { readonly match: Matches };

type Matches = NonNullable<PolicyCreate['match']>;

const matchLists = ['agents', 'tools', 'frameworks', 'environments'] as const;

/** What the fields of the form hold for a policy; for a new one where it is undefined. */
export function policyFields(policy: Policy | undefined) {
  const { match = {}, rate, approval } = policy ?? {};
  return {
    name: policy?.name ?? '',
    description: policy?.description ?? '',
    effect: policy?.effect ?? 'deny',
    mode: policy?.mode ?? 'enforce',
    priority: String(policy?.priority ?? 0),
    agents: match.agents?.join('\n') ?? '',
    tools: match.tools?.join('\n') ?? '',
    frameworks: match.frameworks?.join('\n') ?? '',
    environments: match.environments?.join('\n') ?? '',
    condition: policy?.condition ?? '',
    message: policy?.message ?? '',
    rateMax: String(rate?.max ?? ''),
    rateWindowSeconds: String(rate?.windowSeconds ?? 60),
    ratePer: rate?.per ?? 'agent',
    timeoutSeconds: String(approval?.timeoutSeconds ?? ''),
    onTimeout: approval?.onTimeout ?? 'deny',
  };
}

/** What the fields of a form hold, by their names. */
export type PolicyFields = Readonly<Record<keyof ReturnType<typeof policyFields>, string>>;

function text(field = ''): string | null {
  return field.replaceAll(/\r\n?/g, '\n').trim() || null;
}

/**
 * The patterns of a field, one a line or parted by commas. A pattern that the policy has already may hold commas and
 * outer spaces itself, and stays as it is.
 */
function patterns(field = '', known: readonly string[] = []): string[] {
  return field
    .split(/\r?\n/)
    .flatMap((line) => (known.includes(line) ? [line] : line.split(',').map((pattern) => pattern.trim())))
    .filter(Boolean);
}

/**
 * Reads the form of a policy. A number is 0 where its field is empty, which the service then names.
 *
 * @param policy - what is changed, whose lists that are empty now must be taken away, as a merge patch does by null
 */
export function readPolicy(fields: Partial<PolicyFields>, policy?: Policy): PolicyDraft {
  const match = matchLists
    .map((name) => [name, patterns(fields[name], policy?.match?.[name])] as const)
    .filter(([, globs]) => policy !== undefined || globs.length > 0)
    .map(([name, globs]) => [name, globs.length > 0 ? globs : null]);
  const effect = fields.effect as PolicyEffect;
  const onTimeout = fields.onTimeout === 'allow' ? 'allow' : 'deny';
  const isDefaultApproval = text(fields.timeoutSeconds) === null && onTimeout === 'deny';
  return {
    name: text(fields.name) ?? '',
    description: text(fields.description),
    effect,
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
            windowSeconds: Number(fields.rateWindowSeconds),
            per: fields.ratePer as 'agent' | 'session' | 'tenant',
          },
    approval:
      effect !== 'require_approval' || isDefaultApproval
        ? null
        : { timeoutSeconds: Number(fields.timeoutSeconds), onTimeout },
  };
}

function changed<Fields extends object>(before: Fields, after: Fields): Partial<Fields> {
  const given = Object.entries(after) as [keyof Fields, unknown][];
  return Object.fromEntries(
    given.filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  ) as Partial<Fields>;
}

/**
 * What the person changed of a policy: the rest stays to the letter as it is stored, and as others change it
 * meanwhile.
 */
export function policyChanges(policy: Policy, fields: PolicyFields): Partial<PolicyDraft> {
  const before = readPolicy(policyFields(policy), policy);
  const after = readPolicy(fields, policy);
  const match = changed(before.match, after.match);
  const { match: _whole, ...rest } = changed(before, after);
  return { ...rest, ...(Object.keys(match).length > 0 && { match }) };
}
