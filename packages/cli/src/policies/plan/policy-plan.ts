import { type PolicyDefinition, policyDefinition } from '@actlog/policy';
import type { Policy, PolicyCreate } from '@actlog/protocol';
import type { PlacedPolicy } from '../files/policy-files.ts';
import type { Position } from '../files/position.ts';
import { type PolicyDifference, policyDifference } from './policy-difference.ts';

/** One change of a plan. */
export type PlannedChange =
  | { readonly action: 'create'; readonly name: string; readonly source: PlacedPolicy }
  | ({
      readonly action: 'change';
      readonly name: string;
      readonly id: string;
      readonly source: PlacedPolicy;
    } & PolicyDifference)
  | { readonly action: 'archive'; readonly name: string; readonly id: string };

/** Changes that make the active policies of the service equal to those of the files. */
export interface PolicyPlan {
  /**
   * Changes in the order in which they are applied: created policies first and archived ones last, so that a renamed
   * policy is never missing.
   */
  readonly changes: readonly PlannedChange[];
  /** Number of policies that are the same. */
  readonly unchanged: number;
  /** Active policies of the service that are in no file and stay. */
  readonly unmanaged: readonly { readonly id: string; readonly name: string }[];
}

/**
 * Compares the policies of files with the active ones of the service, by name.
 *
 * @param prune - `true` to archive the active policies that are in no file
 * @throws AmbiguousPolicyError if several active policies have the name of a policy in the files
 */
export function planPolicies(
  files: readonly PlacedPolicy[],
  active: readonly Policy[],
  { prune }: { readonly prune: boolean },
): PolicyPlan {
  const byName = Map.groupBy(active, ({ name = '' }) => name);
  const created: PlannedChange[] = [];
  const changed: PlannedChange[] = [];
  let unchanged = 0;
  for (const source of files) {
    const { name } = source.policy;
    const [found, ...others] = byName.get(name) ?? [];
    if (found === undefined) {
      created.push({ action: 'create', name, source });
      continue;
    }
    if (others.length > 0) throw new AmbiguousPolicyError(name, [found, ...others]);
    const difference = policyDifference(definitionOf(found), policyDefinition(source.policy));
    if (difference) changed.push({ action: 'change', name, id: found.id, source, ...difference });
    else unchanged += 1;
  }
  const names = new Set(files.map(({ policy }) => policy.name));
  const others = active.flatMap(({ id, name = '' }) => (names.has(name) ? [] : [{ id, name }]));
  const archived = prune ? others.map((other): PlannedChange => ({ action: 'archive', ...other })) : [];
  return {
    changes: [...created, ...changed, ...archived],
    unchanged,
    unmanaged: prune ? [] : others,
  };
}

/** Returns the definition of a policy of the service; fields that a deployment does not send have their defaults. */
export function definitionOf(policy: Policy): PolicyDefinition {
  return policyDefinition(policy as unknown as PolicyCreate);
}

/** Error thrown when several active policies of the service have one name, so that the name identifies none of them. */
export class AmbiguousPolicyError extends Error {
  override readonly name = 'AmbiguousPolicyError';

  constructor(name: string, policies: readonly { readonly id: string }[]) {
    const ids = policies.map(({ id }) => id).join(', ');
    super(
      `The service has ${policies.length} active policies with the name "${name}": ${ids}. Archive or rename all but one of them.`,
    );
  }
}

/** A change as `--json` prints it. */
export type ChangeJson = Omit<PlannedChange, 'source'> & Partial<Position>;

/** A plan as `--json` prints it. */
interface PlanJson {
  readonly changes: readonly ChangeJson[];
  readonly unchanged: number;
  readonly unmanaged: PolicyPlan['unmanaged'];
}

/** Returns a plan in the form that `--json` prints: places in files instead of whole policies. */
export function planJson({ changes, unchanged, unmanaged }: PolicyPlan): PlanJson {
  return { changes: changes.map(changeJson), unchanged, unmanaged };
}

/** Returns a change in the form that `--json` prints. */
export function changeJson(change: PlannedChange): ChangeJson {
  if (change.action === 'archive') return change;
  const { source, ...fields } = change;
  return { ...fields, ...source.position };
}
