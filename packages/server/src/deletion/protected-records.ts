import { lowestIdentifierOf } from '../lib/identifier.ts';
import { activeHolds, type HoldableRecord, type LegalHoldRow } from '../storage/retention/legal-holds.ts';
import { flooredFrom, type RetentionClass, retentionPolicy } from '../storage/retention/retention.ts';
import { receivedSince } from '../storage/sessions/session-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Error thrown when an operator deletes what must be kept: records under a legal hold, or before their floor. */
export class ProtectedRecordsError extends Error {
  override readonly name = 'ProtectedRecordsError';
}

/**
 * Refuses a deletion of records that a legal hold covers. The log must be locked.
 *
 * @param what - begins the sentence, such as `The session "s1"`
 * @throws ProtectedRecordsError that names the first hold
 */
export async function requireNoHold(
  db: Database,
  tenantId: number,
  records: readonly HoldableRecord[],
  what: string,
): Promise<void> {
  const held = await (await activeHolds(db, tenantId)).covering(records);
  for (const hold of held.values()) throw heldError(what, hold);
}

/**
 * Refuses the deletion of a tenant with a legal hold, or with records before their floor unless they are erased. The log
 * must be locked.
 *
 * @throws ProtectedRecordsError
 */
export async function requireDeletableTenant(
  db: Database,
  tenantId: number,
  name: string,
  { erasure }: { readonly erasure?: string | undefined },
): Promise<void> {
  const what = `The tenant "${name}"`;
  const { first } = await activeHolds(db, tenantId);
  if (first) throw heldError(what, first);
  if (erasure !== undefined) return;
  const floor = await flooredClass(db, tenantId);
  if (floor) throw flooredError(what, floor);
}

/** A class that a deletion would delete before its floor. */
export interface FlooredClass {
  readonly name: RetentionClass;
  readonly days: number;
}

/** Returns the error of a deletion before a floor. */
export function flooredError(what: string, { name, days }: FlooredClass): ProtectedRecordsError {
  return new ProtectedRecordsError(
    `${what} has ${nouns[name]} of less than ${days} days, the floor in "retentionFloors" (ACTLOG_RETENTION_FLOORS), so it is not deleted. Retention deletes it later. To erase it now, as when a person demands it, add --erasure REASON, which is recorded.`,
  );
}

const nouns: Record<RetentionClass, string> = {
  sessions: 'events',
  decisions: 'decisions',
  approvals: 'held actions',
  audit: 'audit entries',
};

function heldError(what: string, { id, name }: LegalHoldRow): ProtectedRecordsError {
  return new ProtectedRecordsError(
    `${what} is under the legal hold "${name}" (${id}), so nothing of it is deleted. The hold is released by: actlog legal-holds release ${id}`,
  );
}

/** Returns a class of a tenant that has records before their floor. */
async function flooredClass(db: Database, tenantId: number): Promise<FlooredClass | undefined> {
  const policy = await retentionPolicy(db, tenantId);
  const fromMs = (name: RetentionClass) => flooredFrom(policy, name, Date.now());
  const found: Record<RetentionClass, () => Promise<unknown>> = {
    sessions: () =>
      db
        .selectFrom('sessions')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where(receivedSince(fromMs('sessions')))
        .limit(1)
        .executeTakeFirst(),
    decisions: () =>
      db
        .selectFrom('policy_decisions')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where('id', '>=', lowestIdentifierOf('dec', fromMs('decisions')))
        .limit(1)
        .executeTakeFirst(),
    approvals: () =>
      db
        .selectFrom('pending_actions')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where('created_ms', '>=', fromMs('approvals'))
        .limit(1)
        .executeTakeFirst(),
    audit: () =>
      db
        .selectFrom('audit_log')
        .select('id')
        .where('tenant_id', '=', tenantId)
        .where('id', '>=', lowestIdentifierOf('aud', fromMs('audit')))
        .limit(1)
        .executeTakeFirst(),
  };
  for (const [name, find] of Object.entries(found) as [RetentionClass, () => Promise<unknown>][]) {
    const days = policy.floors[name];
    if (days > 0 && (await find()) !== undefined) return { name, days };
  }
  return undefined;
}
