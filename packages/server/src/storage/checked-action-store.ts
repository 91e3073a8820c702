import type { Selectable } from 'kysely';
import type { CheckedActionTable } from './policy-schema.ts';
import type { Database } from './transaction.ts';

/** The action that an agent named before, or undefined. */
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

/** Keeps what a check left behind under the name that the agent gave the action. */
export async function saveCheckedAction(db: Database, row: Selectable<CheckedActionTable>): Promise<void> {
  await db
    .insertInto('checked_actions')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'agent_id', 'action_id'])
        .doUpdateSet({ pending_action_id: row.pending_action_id, counted: row.counted }),
    )
    .execute();
}
