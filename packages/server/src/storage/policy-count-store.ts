import { sql } from 'kysely';
import { type OldRows, oldRows } from './old-rows.ts';
import type { Database } from './transaction.ts';

/** What a rate condition counts: one policy's actions by one agent, in one session, or in the tenant. */
export interface CountedSubject {
  readonly tenantId: number;
  readonly policyId: string;
  readonly subject: string;
}

/** Actions counted in slices that began after a moment, and not after another. */
export async function countedActions(
  db: Database,
  { tenantId, policyId, subject }: CountedSubject,
  sinceMs: number,
  untilMs: number,
): Promise<number> {
  const { actions } = await db
    .selectFrom('policy_counts')
    .select((eb) => eb.fn.coalesce(eb.fn.sum<number>('actions'), eb.lit(0)).as('actions'))
    .where('tenant_id', '=', tenantId)
    .where('policy_id', '=', policyId)
    .where('subject', '=', subject)
    .where('slice_ms', '>', sinceMs)
    .where('slice_ms', '<=', untilMs)
    .executeTakeFirstOrThrow();
  return Number(actions);
}

/** Counts one action in a slice. */
export async function countAction(
  db: Database,
  { tenantId, policyId, subject }: CountedSubject,
  sliceMs: number,
): Promise<void> {
  await db
    .insertInto('policy_counts')
    .values({ tenant_id: tenantId, policy_id: policyId, subject, slice_ms: sliceMs, actions: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'policy_id', 'subject', 'slice_ms'])
        .doUpdateSet((eb) => ({ actions: eb('policy_counts.actions', '+', 1) })),
    )
    .execute();
}

/** Counts and named actions that no condition looks at any more. */
export function oldCounts(beforeMs: number): OldRows[] {
  return [
    oldRows({
      table: 'policy_counts',
      key: ['tenant_id', 'policy_id', 'subject', 'slice_ms'],
      age: 'slice_ms',
      beforeMs,
    }),
    oldRows({
      table: 'checked_actions',
      key: ['tenant_id', 'agent_id', 'action_id'],
      age: 'created_ms',
      beforeMs,
      where: sql`pending_action_id is null`,
    }),
  ];
}
