import type { AuditAction } from '@actlog/protocol';
import { fieldChanges } from '../audit/field-changes.ts';
import type { Change } from '../audit/record-change.ts';
import type { StoredPolicy } from '../storage/policies/policy-store.ts';

/** Returns the entry of the audit log for a change of a policy, with all fields that differ. */
export function policyChange(
  action: AuditAction & `policy.${string}`,
  before: StoredPolicy | undefined,
  after: StoredPolicy,
): Change {
  const fields = [...(Object.keys(after.definition) as (keyof typeof after.definition)[])];
  return {
    action,
    target: { id: after.id, name: after.definition.name },
    changes: [
      ...fieldChanges(before?.definition, after.definition, fields),
      ...fieldChanges(before, after, ['status', 'version']),
    ],
  };
}
