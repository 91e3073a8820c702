import type { CallerIdentity } from '@actlog/protocol';
import type { Insertable, Selectable } from 'kysely';
import { lowestIdentifierOf } from '../../lib/identifier.ts';
import { lockRows } from '../locks.ts';
import { type DeletionReason, logDeletion, logLater } from '../log/tenant-log.ts';
import { querySliceWithin, type Slice } from '../slices.ts';
import { addUsage } from '../stores/quota-store.ts';
import { bulkInsert, type Database, oneOf } from '../transaction.ts';
import type { PolicyDecisionTable } from './policy-schema.ts';

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
  'subagent',
  'parent_agents',
  'identity',
  'traceparent',
  'held_status',
  'executed_hash',
  'ended_ms',
] as const;

const insertRows = bulkInsert('policy_decisions', columns, (insert) => insert);

/** Stores decisions of one tenant. */
export async function insertPolicyDecisions(
  db: Database,
  rows: readonly Insertable<PolicyDecisionTable>[],
): Promise<void> {
  await insertRows(db, rows);
  for (const [tenantId, ofTenant] of Map.groupBy(rows, (row) => row.tenant_id)) {
    await logLater(
      db,
      tenantId,
      'decision',
      ofTenant.map(({ id }) => id),
    );
  }
}

/** The part of a held action's decision that changes. */
export type HeldDecision = Pick<
  PolicyDecisionRow,
  'id' | 'decided_ms' | 'decision' | 'decided_by' | 'pending_action_id' | 'held_status' | 'ended_ms'
>;

/** Returns the decisions about held actions by the id of the action, and locks them until the transaction ends. */
export async function lockHeldDecisions(
  db: Database,
  tenantId: number,
  heldIds: readonly string[],
): Promise<ReadonlyMap<string, HeldDecision>> {
  const ofHeld = db
    .selectFrom('policy_decisions')
    .select(['id', 'decided_ms', 'decision', 'decided_by', 'pending_action_id', 'held_status', 'ended_ms'])
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'pending_action_id', JSON.stringify(heldIds)))
    .where('held_status', 'is not', null)
    .orderBy('id');
  const rows = await lockRows(db, ofHeld).execute();
  return new Map(rows.map((row) => [row.pending_action_id as string, row]));
}

/** Changes the decision about a held action, which must be locked. */
export async function changeHeldDecision(
  db: Database,
  tenantId: number,
  id: string,
  change: Partial<
    Pick<
      PolicyDecisionRow,
      'decision' | 'decided_by' | 'matched' | 'held_status' | 'executed_hash' | 'ended_ms'
    >
  >,
): Promise<void> {
  await db
    .updateTable('policy_decisions')
    .set(change)
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}

/** Filters of a list of decisions; a decision must pass all of them. */
export interface PolicyDecisionFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  readonly toolName?: string | undefined;
  readonly decision?: PolicyDecisionTable['decision'] | undefined;
  readonly dryRun?: boolean | undefined;
  /** `true` for actions that are or were held, `false` for the others. */
  readonly held?: boolean | undefined;
  /** Earliest time of a check, in Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Time before which the action was checked, in Unix milliseconds. */
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
  const { agentId, sessionId, toolName, decision, dryRun, held, sinceMs, untilMs } = filters;
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
  if (held !== undefined) query = query.where('held_status', held ? 'is not' : 'is', null);
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

/** Returns the decisions about a session, in no order: what a deletion needs to know of each. */
export function decisionsOf(db: Database, tenantId: number, sessionId: string): Promise<DroppableDecision[]> {
  return db
    .selectFrom('policy_decisions')
    .select(droppableColumns)
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .execute();
}

/** Returns the oldest of a tenant's decisions that were made before a time, after one of them. */
export function decisionsBefore(
  db: Database,
  tenantId: number,
  {
    afterId,
    beforeMs,
    limit,
  }: { readonly afterId: string; readonly beforeMs: number; readonly limit: number },
): Promise<DroppableDecision[]> {
  return db
    .selectFrom('policy_decisions')
    .select(droppableColumns)
    .where('tenant_id', '=', tenantId)
    .where('id', '>', afterId)
    .where('id', '<', lowestIdentifierOf('dec', beforeMs))
    .orderBy('id')
    .limit(limit)
    .execute();
}

/** Part of a decision that a deletion depends on. */
export type DroppableDecision = Pick<PolicyDecisionRow, (typeof droppableColumns)[number]>;

const droppableColumns = [
  'id',
  'decided_ms',
  'agent_id',
  'session_id',
  'parent_agents',
  'held_status',
  'ended_ms',
] as const;

/** Returns the time at which a decision was final: when its held action ended, if there is one; `undefined` until then. */
export function finalMs({ decided_ms, held_status, ended_ms }: DroppableDecision): number | undefined {
  return held_status === null ? Number(decided_ms) : ended_ms === null ? undefined : Number(ended_ms);
}

/** Deletes decisions. The log must be locked. */
export async function dropDecisions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
  nowMs: number,
  reason: DeletionReason,
): Promise<void> {
  if (ids.length === 0) return;
  await db
    .deleteFrom('policy_decisions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .execute();
  await logDeletion(db, tenantId, 'decision', ids, reason);
  await addUsage(db, tenantId, { decisions: -ids.length }, nowMs);
}

/** Returns the verified identity of a caller as it is stored; `null` for none. */
export function identityJson(identity: CallerIdentity | null | undefined): string | null {
  return identity == null ? null : JSON.stringify(identity);
}

/** Returns the agents above an agent as they are stored; `null` for none. */
export function parentsJson(parentAgentIds: readonly string[] = []): string | null {
  return parentAgentIds.length === 0 ? null : JSON.stringify(parentAgentIds);
}
