import type { Selectable } from 'kysely';
import type { Database } from '../transaction.ts';
import type { CheckedActionTable } from './policy-schema.ts';

/** Returns the action that an agent checked under this `actionId`, or `undefined` if there is none. */
export function findCheckedAction(
  db: Database,
  tenantId: number,
  agentId: string,
  actionId: string,
): Promise<Selectable<CheckedActionTable> | undefined> {
  return db
    .selectFrom('checked_actions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId)
    .where('action_id', '=', actionId)
    .executeTakeFirst();
}

/** Stores the state of a checked action under its `actionId`. */
export async function saveCheckedAction(db: Database, row: Selectable<CheckedActionTable>): Promise<void> {
  await db
    .insertInto('checked_actions')
    .values(row)
    .onConflict((conflict) =>
      conflict.columns(['tenant_id', 'agent_id', 'action_id']).doUpdateSet({
        pending_action_id: row.pending_action_id,
        grant_id: row.grant_id,
        counted: row.counted,
      }),
    )
    .execute();
}
