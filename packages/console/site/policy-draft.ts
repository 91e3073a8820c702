import type { PolicyCreate, PolicyEffect } from '@actlog/client';

/** A whole policy as a form gives it: what is empty is null, so that a change takes it away. */
export type PolicyDraft = PolicyCreate & { readonly match: Matches };

type Matches = NonNullable<PolicyCreate['match']>;

const matchLists = ['agents', 'tools', 'frameworks', 'environments'] as const;

function text(form: FormData, name: string): string | null {
  return String(form.get(name) ?? '').trim() || null;
}

/** A number that the person wrote; 0 where the field is empty, which the service then names. */
function number(form: FormData, name: string): number {
  return Number(text(form, name));
}

/** The patterns of a field, one a line or parted by commas. */
function patterns(form: FormData, name: string): string[] {
  return (text(form, name) ?? '')
    .split(/[\n,]/)
    .map((pattern) => pattern.trim())
    .filter(Boolean);
}

/**
 * Reads the form of a policy.
 *
 * @param isChange - whether lists that are empty must take away what is there, as a merge patch does by null
 */
export function readPolicy(form: FormData, isChange: boolean): PolicyDraft {
  const lists = matchLists.map((name) => [name, patterns(form, name)] as const);
  const match = lists
    .filter(([, globs]) => isChange || globs.length > 0)
    .map(([name, globs]) => [name, globs.length > 0 ? globs : null]);
  const effect = form.get('effect') as PolicyEffect;
  return {
    name: text(form, 'name') ?? '',
    description: text(form, 'description'),
    effect,
    mode: form.get('mode') === 'log_only' ? 'log_only' : 'enforce',
    priority: number(form, 'priority'),
    match: Object.fromEntries(match) as Matches,
    condition: text(form, 'condition'),
    message: text(form, 'message'),
    rate:
      text(form, 'rateMax') === null
        ? null
        : {
            max: number(form, 'rateMax'),
            windowSeconds: number(form, 'rateWindowSeconds'),
            per: form.get('ratePer') as 'agent' | 'session' | 'tenant',
          },
    approval:
      effect !== 'require_approval' || text(form, 'timeoutSeconds') === null
        ? null
        : {
            timeoutSeconds: number(form, 'timeoutSeconds'),
            onTimeout: form.get('onTimeout') === 'allow' ? 'allow' : 'deny',
          },
  };
}
