import { type PolicyDefinition, policyDefinition } from '@actlog/policy';
import type { Policy, PolicyCreate, PolicyUpdate } from '@actlog/protocol';
import type { PlacedPolicy, Position } from '../files/policy-files.ts';

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

/** Changes that make the active policies of the service equal to the policies in the files. */
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

/** A field of a policy that differs. */
export interface FieldChange {
  /** Path of the field, such as `match.tools`. */
  readonly field: string;
  /** Value on the service; null for none. */
  readonly before: unknown;
  /** Value in the file; null for none. */
  readonly after: unknown;
}

/** Difference between a policy of the service and the same policy in a file. */
interface PolicyDifference {
  readonly changes: readonly FieldChange[];
  /** JSON Merge Patch (RFC 7396) that makes them equal. */
  readonly patch: PolicyUpdate;
}

const plainFields = ['description', 'mode', 'effect', 'priority', 'condition', 'message'] as const;

/** Values of optional fields of an approval that a policy does not have. */
const approvalDefaults = {
  singleUse: false,
  requiredApprovers: 1,
  notRequester: false,
  verifiedPrincipal: false,
};

type Fields = Readonly<Record<string, unknown>>;

/** Returns the changes that make a policy of the service equal to the one in a file; undefined if there are none. */
export function policyDifference(
  before: PolicyDefinition,
  after: PolicyDefinition,
): PolicyDifference | undefined {
  const changes: FieldChange[] = [];
  const patch: Record<string, unknown> = {};
  for (const field of plainFields) {
    if (isEqual(before[field], after[field])) continue;
    changes.push({ field, before: before[field], after: after[field] });
    patch[field] = after[field];
  }
  addPart('match', before.match, after.match);
  addPart('rate', before.rate, after.rate);
  addPart('approval', withDefaults(before.approval), withDefaults(after.approval));
  addPart('schedule', before.schedule, after.schedule);
  return changes.length === 0 ? undefined : { changes, patch: patch as PolicyUpdate };

  /** Adds the changes of a field that is merged member by member. */
  function addPart(name: string, from: Fields | null, to: Fields | null): void {
    if (to === null || from === null) {
      if (from === to) return;
      changes.push({ field: name, before: from, after: to });
      patch[name] = to;
      return;
    }
    const differing = memberNames(from, to).filter((member) => !isEqual(from[member], to[member]));
    if (differing.length === 0) return;
    const members = differing.map((member) => [member, to[member] ?? null] as const);
    patch[name] = Object.fromEntries(members);
    for (const [member, value] of members) {
      changes.push({ field: `${name}.${member}`, before: from[member] ?? null, after: value });
    }
  }
}

function withDefaults(approval: PolicyDefinition['approval']): Fields | null {
  return approval && { ...approvalDefaults, ...approval };
}

function memberNames(from: Fields, to: Fields): string[] {
  return [...new Set([...Object.keys(from), ...Object.keys(to)])];
}

/** `true` for values that are the same JSON. Both come from the same schema, so their members are in the same order. */
function isEqual(left: unknown, right: unknown): boolean {
  return JSON.stringify(left) === JSON.stringify(right);
}
