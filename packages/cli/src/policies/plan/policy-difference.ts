import type { PolicyDefinition } from '@actlog/policy';
import type { PolicyUpdate } from '@actlog/protocol';

/** A field of a policy that differs. */
export interface FieldChange {
  /** Path of the field, such as `match.tools`. */
  readonly field: string;
  /** Value on the service; null for none. */
  readonly before: unknown;
  /** Value in the file; null for none. */
  readonly after: unknown;
}

/** Difference between a policy of the service and that of a file. */
export interface PolicyDifference {
  readonly changes: readonly FieldChange[];
  /** JSON Merge Patch (RFC 7396) that makes them equal. */
  readonly patch: PolicyUpdate;
}

const plainFields = ['description', 'mode', 'effect', 'priority', 'condition', 'message'] as const;

/** Values of optional fields of an approval that a policy does not have. */
const approvalDefaults = { singleUse: false, requiredApprovers: 1, notRequester: false };

type Fields = Readonly<Record<string, unknown>>;

/** Returns the changes that make a policy of the service equal to that of a file; undefined if there are none. */
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
