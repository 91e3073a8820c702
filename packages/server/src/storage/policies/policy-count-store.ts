import { windowKey } from '@actlog/policy';
import { type AliasedRawBuilder, type Selectable, sql } from 'kysely';
import { type OldRows, oldRows } from '../retention/drop-rows.ts';
import { bulkInsert, type Database, isPostgres, preparedQuery } from '../transaction.ts';
import type { CheckedActionTable } from './policy-schema.ts';

/** Subject of a rate condition: one policy's actions by one agent, in one session or in the whole tenant. */
export interface CountedSubject {
  readonly policyId: string;
  readonly subject: string;
}

/** Slices to sum up: those that began after `sinceMs` and not after `untilMs`. */
export interface CountedWindow extends CountedSubject {
  readonly sinceMs: number;
  readonly untilMs: number;
}

const actionsIn = preparedQuery((db, tenantId: number, windowsJson: string) =>
  db.selectFrom(rowsOfWindows(db, windowsJson)).select((eb) => [
    'given.policyId',
    'given.subject',
    eb
      .selectFrom('policy_counts')
      .select(({ fn }) => fn.sum<number | null>('actions').as('sum'))
      .where('tenant_id', '=', tenantId)
      .whereRef('policy_id', '=', 'given.policyId')
      .whereRef('policy_counts.subject', '=', 'given.subject')
      .whereRef('slice_ms', '>', 'given.sinceMs')
      .whereRef('slice_ms', '<=', 'given.untilMs')
      .as('actions'),
  ]),
);

function rowsOfWindows(db: Database, windowsJson: string): AliasedRawBuilder<CountedWindow, 'given'> {
  if (isPostgres(db)) {
    const columns = sql`given("policyId" text, subject text, "sinceMs" bigint, "untilMs" bigint)`;
    return sql<CountedWindow>`json_to_recordset(${windowsJson}::json)`.as<'given'>(columns);
  }
  const columns = ['policyId', 'subject', 'sinceMs', 'untilMs'].map(
    (name) => sql`value ->> ${sql.lit(name)} as ${sql.ref(name)}`,
  );
  return sql<CountedWindow>`(select ${sql.join(columns)} from json_each(${windowsJson}))`.as('given');
}

/** Returns the actions counted in the windows, by `windowKey`. */
export async function countedActions(
  db: Database,
  tenantId: number,
  windows: readonly CountedWindow[],
): Promise<Map<string, number>> {
  if (windows.length === 0) return new Map();
  const rows = await actionsIn(db, tenantId, JSON.stringify(windows));
  return new Map(rows.map(({ actions, ...window }) => [windowKey(window), Number(actions)]));
}

const addActions = bulkInsert(
  'policy_counts',
  ['tenant_id', 'policy_id', 'subject', 'slice_ms', 'actions'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict
        .columns(['tenant_id', 'policy_id', 'subject', 'slice_ms'])
        .doUpdateSet((eb) => ({ actions: eb('policy_counts.actions', '+', eb.ref('excluded.actions')) })),
    ),
);

/** Counts one action in each slice. */
export async function countActions(
  db: Database,
  tenantId: number,
  slices: readonly (CountedSubject & { readonly sliceMs: number })[],
): Promise<void> {
  const rows = slices.map(({ policyId, subject, sliceMs }) => ({
    tenant_id: tenantId,
    policy_id: policyId,
    subject,
    slice_ms: sliceMs,
    actions: 1,
  }));
  await addActions(db, rows);
}

/** Returns the counts and checked actions that no rate condition reads any more. */
export function oldCounts(beforeMs: number): OldRows[] {
  return [
    oldRows({
      table: 'policy_counts',
      key: ['policy_id', 'subject', 'slice_ms'],
      age: 'slice_ms',
      beforeMs,
    }),
    oldRows({
      table: 'checked_actions',
      key: ['agent_id', 'action_id'],
      age: 'created_ms',
      beforeMs,
      where: sql`pending_action_id is null`,
    }),
  ];
}

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
