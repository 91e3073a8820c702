import { type Insertable, type Selectable, sql } from 'kysely';
import { lowestIdentifierOf } from '../../lib/identifier.ts';
import { bulkInsert } from '../queries/bulk-insert.ts';
import { querySliceWithin, type Slice } from '../queries/slice.ts';
import { dropRows, keyedTable } from '../retention/drop-rows.ts';
import { addUsage } from '../stores/usage-store.ts';
import type { Database } from '../transaction.ts';
import type { PolicyDecisionTable } from './policy-schema.ts';

const policyDecisionTable = keyedTable('policy_decisions', 'tenant_id', 'id');

/** A stored decision. */
export type PolicyDecisionRow = Selectable<PolicyDecisionTable>;

const columns = [
  'tenant_id',
  'id',
  'decided_ms',
  'agent_id',
  'session_id',
  'action_id',
  'tool_name',
  'arguments_hash',
  'framework',
  'environment',
  'decision',
  'decided_by',
  'pending_action_id',
  'dry_run',
  'duration_us',
  'matched',
  'arguments',
  'origins',
  'grant_id',
  'principal',
] as const;

const insertRows = bulkInsert('policy_decisions', columns, (insert) => insert);

/** Stores decisions of one tenant. */
export async function insertPolicyDecisions(
  db: Database,
  rows: readonly Insertable<PolicyDecisionTable>[],
): Promise<void> {
  await insertRows(db, rows);
}

/** Filters of a list of decisions; a decision must pass all of them. */
export interface PolicyDecisionFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly decision?: PolicyDecisionTable['decision'] | undefined;
  readonly dryRun?: boolean | undefined;
  /** Earliest time of a decision, in Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Time before which a decision was made, in Unix milliseconds. */
  readonly untilMs?: number | undefined;
}

/** Returns a slice of a tenant's decisions, newest first. It has fewer than `limit` rows when they are large. */
export function listPolicyDecisions(
  db: Database,
  options: {
    readonly tenantId: number;
    readonly filters: PolicyDecisionFilters;
    /** Id of the decision after which the slice begins. */
    readonly afterId?: string | undefined;
    readonly limit: number;
  },
): Promise<Slice<PolicyDecisionRow>> {
  const { afterId, filters } = options;
  const { agentId, sessionId, toolName, decision, dryRun, sinceMs, untilMs } = filters;
  let query = db.selectFrom('policy_decisions').selectAll().where('tenant_id', '=', options.tenantId);
  if (afterId !== undefined) query = query.where('id', '<', afterId);
  // Ids begin with the time of the decision, so the key finds the range.
  if (sinceMs !== undefined) query = query.where('id', '>=', lowestIdentifierOf('dec', sinceMs));
  if (untilMs !== undefined) query = query.where('id', '<', lowestIdentifierOf('dec', untilMs));
  if (agentId !== undefined) query = query.where('agent_id', '=', agentId);
  if (sessionId !== undefined) query = query.where('session_id', '=', sessionId);
  if (toolName !== undefined) query = query.where('tool_name', '=', toolName);
  if (decision !== undefined) query = query.where('decision', '=', decision);
  if (dryRun !== undefined) query = query.where('dry_run', '=', dryRun ? 1 : 0);
  return querySliceWithin(options.limit, ['arguments', 'origins', 'matched'], query.orderBy('id', 'desc'));
}

/** Returns up to `limit` of a tenant's decisions after `afterId`, oldest first. It has fewer when they are large. */
export function nextPolicyDecisions(
  db: Database,
  options: {
    readonly tenantId: number;
    /** Id after which the decisions begin. */
    readonly afterId: string;
    /** Time before which the decisions were made, in Unix milliseconds. */
    readonly untilMs: number;
    readonly limit: number;
  },
): Promise<Slice<PolicyDecisionRow>> {
  const query = db
    .selectFrom('policy_decisions')
    .selectAll()
    .where('tenant_id', '=', options.tenantId)
    .where('id', '>', options.afterId)
    .where('id', '<', lowestIdentifierOf('dec', options.untilMs));
  return querySliceWithin(options.limit, ['arguments', 'origins', 'matched'], query.orderBy('id'));
}

/**
 * Deletes the oldest of a tenant's decisions that were made before `beforeMs`, up to the limit of one transaction.
 *
 * @returns `true` if there can be more.
 */
export function dropOldPolicyDecisions(db: Database, tenantId: number, beforeMs: number): Promise<boolean> {
  const before = lowestIdentifierOf('dec', beforeMs);
  return dropDecisions(db, tenantId, sql`tenant_id = ${tenantId} and id < ${before} order by id`, beforeMs);
}

/** Deletes decisions about a session, up to the limit of one transaction. Returns `true` if there can be more. */
export function dropPolicyDecisionsOf(
  db: Database,
  tenantId: number,
  sessionId: string,
  nowMs: number,
): Promise<boolean> {
  return dropDecisions(db, tenantId, sql`tenant_id = ${tenantId} and session_id = ${sessionId}`, nowMs);
}

async function dropDecisions(
  db: Database,
  tenantId: number,
  condition: Parameters<typeof dropRows>[2],
  nowMs: number,
): Promise<boolean> {
  const { count, hasMore } = await dropRows(db, policyDecisionTable, condition);
  await addUsage(db, tenantId, { decisions: -count }, nowMs);
  return hasMore;
}
