import type { AlertRuleDefinition } from '@actlog/protocol';
import { type Selectable, sql } from 'kysely';
import { lockRows } from '../locks.ts';
import { dropRows, keyedTable, type OldRows, oldRows } from '../retention/drop-rows.ts';
import type { AlertRuleTable, AlertTable } from '../tables.ts';
import type { Database } from '../transaction.ts';

/** A stored rule of alerts. */
export interface StoredAlertRule extends Omit<Selectable<AlertRuleTable>, 'definition'> {
  readonly definition: AlertRuleDefinition;
}

/** A stored cause. */
export type AlertRow = Selectable<AlertTable>;

function storedRule(row: Selectable<AlertRuleTable>): StoredAlertRule {
  return { ...row, definition: JSON.parse(row.definition) as AlertRuleDefinition };
}

/** Maximum number of rules of a tenant. */
export const maxAlertRules = 100;

/** Returns the rules of a tenant, oldest first. */
export async function listAlertRules(db: Database, tenantId: number): Promise<StoredAlertRule[]> {
  const rows = await db
    .selectFrom('alert_rules')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .orderBy('id')
    .execute();
  return rows.map(storedRule);
}

/** Returns a rule and locks it until the transaction ends; `undefined` if there is none. */
export async function lockAlertRule(
  db: Database,
  tenantId: number,
  id: string,
): Promise<StoredAlertRule | undefined> {
  const ofId = db
    .selectFrom('alert_rules')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id);
  const row = await lockRows(db, ofId).executeTakeFirst();
  return row && storedRule(row);
}

/** Adds a rule. */
export async function insertAlertRule(db: Database, rule: StoredAlertRule): Promise<void> {
  await db
    .insertInto('alert_rules')
    .values({ ...rule, definition: JSON.stringify(rule.definition) })
    .execute();
}

/** Mutes a rule until a time; `null` ends that. */
export async function muteAlertRule(
  db: Database,
  { tenant_id: tenantId, id }: StoredAlertRule,
  untilMs: number | null,
): Promise<void> {
  await db
    .updateTable('alert_rules')
    .set({ muted_until_ms: untilMs })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Deletes a rule with its causes. */
export async function dropAlertRule(
  db: Database,
  { tenant_id: tenantId, id }: StoredAlertRule,
): Promise<void> {
  await db.deleteFrom('alert_rules').where('tenant_id', '=', tenantId).where('id', '=', id).execute();
  const condition = sql`tenant_id = ${tenantId} and rule_id = ${id}`;
  await dropRows(db, keyedTable('alerts', 'rule_id', 'cause'), condition);
}

/** Returns a cause and locks it until the transaction ends; `undefined` if there is none. */
export function lockAlert(
  db: Database,
  tenantId: number,
  ruleId: string,
  cause: string,
): Promise<AlertRow | undefined> {
  const ofCause = db
    .selectFrom('alerts')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('rule_id', '=', ruleId)
    .where('cause', '=', cause);
  return lockRows(db, ofCause).executeTakeFirst();
}

/** Stores a cause. */
export async function saveAlert(db: Database, row: AlertRow): Promise<void> {
  const { tenant_id: _tenant, rule_id: _rule, cause: _cause, ...changes } = row;
  await db
    .insertInto('alerts')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'rule_id', 'cause']).doUpdateSet(changes))
    .execute();
}

/** Describes the causes of all tenants that did not occur again since a time. */
export function oldAlerts(beforeMs: number): OldRows {
  return oldRows({ table: 'alerts', key: ['rule_id', 'cause'], age: 'last_ms', beforeMs });
}

/** Returns the tenants that have rules. */
export async function tenantsWithAlertRules(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('alert_rules')
    .select('tenant_id')
    .distinct()
    .orderBy('tenant_id')
    .execute();
  return rows.map(({ tenant_id: id }) => id);
}

/** `true` if an agent acted in a session that began before a given one, and that has a call of a tool. */
export async function agentUsedTool(
  db: Database,
  tenantId: number,
  {
    agentId,
    toolName,
    beforeSessionId,
  }: { readonly agentId: string; readonly toolName: string; readonly beforeSessionId: string },
): Promise<boolean> {
  const row = await db
    .selectFrom('session_agents')
    .innerJoin('session_tools', (join) =>
      join
        .onRef('session_tools.tenant_id', '=', 'session_agents.tenant_id')
        .onRef('session_tools.session_id', '=', 'session_agents.session_id'),
    )
    .select('session_agents.session_id')
    .where('session_agents.tenant_id', '=', tenantId)
    .where('session_agents.agent_id', '=', agentId)
    .where('session_tools.tool_name', '=', toolName)
    .where('session_agents.session_id', '<>', beforeSessionId)
    .where('session_agents.started_ms', '<', (given) =>
      given
        .selectFrom('sessions')
        .select('sessions.started_ms')
        .where('sessions.tenant_id', '=', tenantId)
        .where('sessions.id', '=', beforeSessionId),
    )
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
