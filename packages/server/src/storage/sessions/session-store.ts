import type { ExpressionBuilder, Insertable, Selectable } from 'kysely';
import type { NewEvent } from '../event-recording.ts';
import { lockRows } from '../locks.ts';
import { PostgresError } from '../postgres/postgres-error.ts';
import type { SessionTable, Tables } from '../schema.ts';
import { bulkUpdate, bulkWrite, type Database, isPostgres, oneOf, preparedQuery } from '../transaction.ts';

const insertSessionTools = bulkWrite(
  'session_tools',
  ['tenant_id', 'session_id', 'tool_name', 'started_ms'],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
);

/** A session with the tools that were called in it for the first time. */
interface NewTools {
  readonly summary: { readonly id: string; readonly started_ms: number };
  readonly newToolNames: readonly string[];
}

/** Stores the tools that were called in sessions for the first time, so that lists find the sessions by them. */
async function saveSessionTools(db: Database, tenantId: number, changes: readonly NewTools[]): Promise<void> {
  const called = changes.flatMap(({ summary, newToolNames }) =>
    newToolNames.map((toolName) => ({
      tenant_id: tenantId,
      session_id: summary.id,
      tool_name: toolName,
      started_ms: summary.started_ms,
    })),
  );
  if (called.length > 0) await insertSessionTools(db, called);
}

/** Summary of a session in memory, with JSON columns parsed. */
export interface SessionSummary
  extends Omit<
    Selectable<SessionTable>,
    | 'agent_ids'
    | 'tool_names'
    | 'tenant_id'
    | 'risk_band'
    | 'risk_rank'
    | 'log_arrival'
    | 'received_minute'
    | 'is_unscored'
    | 'is_unlogged'
    | 'assignee_key'
  > {
  agentIds: string[];
  toolNames: string[];
}

/**
 * Returns the summary of a session that begins with an event, before the event is counted.
 *
 * @param afterArrival - arrival after which it starts. Default: 0
 */
export function newSession({ event, sourceMs, receivedMs }: NewEvent, afterArrival = 0): SessionSummary {
  return {
    id: event.sessionId,
    agent_id: event.agentId,
    agentIds: [],
    started_ms: sourceMs,
    last_event_ms: sourceMs,
    event_count: 0,
    error_count: 0,
    last_arrival: afterArrival,
    toolNames: [],
    risk_score: null,
    risk_level: null,
    risk_arrival: afterArrival,
    risk_learned: 0,
    received_ms: receivedMs,
    has_errors: 0,
    has_denials: 0,
    has_holds: 0,
  };
}

/** Columns that can make a row large: a session has up to 1,000 agents, each with an id of up to 200 characters. */
export const largeSessionColumns: readonly string[] = ['sessions.agent_ids', 'sessions.tool_names'];

const columns = [
  'tenant_id',
  'id',
  'agent_id',
  'agent_ids',
  'started_ms',
  'last_event_ms',
  'event_count',
  'error_count',
  'last_arrival',
  'tool_names',
  'risk_score',
  'risk_level',
  'risk_arrival',
  'risk_learned',
  'received_ms',
  'has_errors',
  'has_denials',
  'has_holds',
] as const;

const upsertSessions = bulkWrite('sessions', columns, (insert) =>
  insert.onConflict((conflict) =>
    conflict.columns(['tenant_id', 'id']).doUpdateSet((eb) => ({
      agent_ids: eb.ref('excluded.agent_ids'),
      started_ms: eb.ref('excluded.started_ms'),
      last_event_ms: eb.ref('excluded.last_event_ms'),
      event_count: eb.ref('excluded.event_count'),
      error_count: eb.ref('excluded.error_count'),
      last_arrival: eb.ref('excluded.last_arrival'),
      tool_names: eb.ref('excluded.tool_names'),
      risk_score: eb.ref('excluded.risk_score'),
      risk_level: eb.ref('excluded.risk_level'),
      risk_arrival: eb.ref('excluded.risk_arrival'),
      received_ms: eb.ref('excluded.received_ms'),
      has_errors: eb.ref('excluded.has_errors'),
      has_denials: eb.ref('excluded.has_denials'),
      has_holds: eb.ref('excluded.has_holds'),
    })),
  ),
);

/**
 * Updates the columns that every event changes. Only the index of sessions to score contains one of them.
 */
const countEvents = bulkUpdate(
  'sessions',
  ['tenant_id', 'id'],
  ['last_event_ms', 'event_count', 'error_count', 'last_arrival', 'received_ms'],
);

const insertSessions = bulkWrite('sessions', columns, (insert) =>
  insert.onConflict((conflict) => conflict.doNothing()),
);

const upsertSessionAgents = bulkWrite(
  'session_agents',
  ['tenant_id', 'agent_id', 'session_id', 'started_ms', 'risk_score'],
  (insert) => insert.onConflict((conflict) => conflict.doNothing()),
);

/** Converts a row to a summary. */
export function sessionSummary(row: Selectable<SessionTable>): SessionSummary {
  const {
    agent_ids: agentIds,
    tool_names: toolNames,
    tenant_id: _,
    risk_band: __,
    risk_rank: ___,
    log_arrival: ____,
    received_minute: _____,
    is_unscored: ______,
    is_unlogged: _______,
    assignee_key: ________,
    ...rest
  } = row;
  return { ...rest, agentIds: JSON.parse(agentIds), toolNames: JSON.parse(toolNames) };
}

function sessionRow(
  tenantId: number,
  { agentIds, toolNames, ...row }: SessionSummary,
): Insertable<SessionTable> {
  return {
    ...row,
    tenant_id: tenantId,
    agent_ids: JSON.stringify(agentIds),
    tool_names: JSON.stringify(toolNames),
  };
}

const sessionsOf = preparedQuery(ofIds);

const lockedSessionsOf = preparedQuery((db, tenantId: number, idsJson: string) =>
  lockRows(db, ofIds(db, tenantId, idsJson).orderBy('id')),
);

function ofIds(db: Database, tenantId: number, idsJson: string) {
  return db
    .selectFrom('sessions')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', idsJson));
}

/** Returns the sessions with these ids, by id. */
export async function findSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<Map<string, SessionSummary>> {
  const rows = await sessionsOf(db, tenantId, JSON.stringify(ids));
  return new Map(rows.map((row) => [row.id, sessionSummary(row)]));
}

/** Like {@link findSessions}, and locks the sessions until the transaction ends. */
export async function lockSessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<Map<string, SessionSummary>> {
  const rows = await lockedSessionsOf(db, tenantId, JSON.stringify(ids));
  return new Map(rows.map((row) => [row.id, sessionSummary(row)]));
}

const lockedIfAll = preparedQuery((db, tenantId: number, idsJson: string, count: number) =>
  lockRows(
    db,
    ofIds(db, tenantId, idsJson)
      .where((eb) =>
        eb(
          ofIds(db, tenantId, idsJson)
            .clearSelect()
            .select((counted) => counted.fn.countAll<number>().as('count')),
          '=',
          count,
        ),
      )
      .orderBy('id'),
  ),
);

/**
 * Returns sessions, locked until the transaction ends, where several processes write: first those that are missing are
 * inserted, and then all are locked, each in the order of their ids. A transaction that waits to insert a session has
 * locked none, so no two of them wait for each other, whatever others commit in between.
 *
 * @param summaries - the sessions, as they are inserted
 * @returns those that existed
 * @throws PostgresError when one was deleted in between, so that the transaction must run again
 */
export async function openSessions(
  db: Database,
  tenantId: number,
  summaries: readonly SessionSummary[],
): Promise<Map<string, SessionSummary>> {
  const sorted = summaries.toSorted((left, right) => (left.id < right.id ? -1 : 1));
  const ids = sorted.map(({ id }) => id);
  const existing = await lockedIfAll(db, tenantId, JSON.stringify(ids), ids.length);
  if (existing.length > 0) return requireAll(existing.map(sessionSummary), ids.length);
  await insertSessions(
    db,
    sorted.map((summary) => sessionRow(tenantId, summary)),
  );
  const opened = requireAll((await lockSessions(db, tenantId, ids)).values(), ids.length);
  return new Map([...opened].filter(([, { event_count: eventCount }]) => eventCount > 0));
}

function requireAll(found: Iterable<SessionSummary>, count: number): Map<string, SessionSummary> {
  const byId = new Map(Array.from(found, (summary) => [summary.id, summary]));
  // Inserting it now, with the locks of the others, could wait for a transaction that waits for them.
  if (byId.size < count) throw new PostgresError('A session was deleted before it was locked.', '40001');
  return byId;
}

/** Returns the minute of a time in Unix milliseconds, as `received_minute` has it. */
export function receivedMinute(timeMs: number): number {
  return Math.floor(timeMs / 60_000);
}

type Received = ExpressionBuilder<Tables, 'sessions'>;

/** Returns the condition for sessions whose newest event was received since a time. Only the minute is in an index. */
export function receivedSince(timeMs: number) {
  return (eb: Received) =>
    eb.and([eb('received_minute', '>=', receivedMinute(timeMs)), eb('received_ms', '>=', timeMs)]);
}

/** Returns the condition for sessions whose newest event was received before a time. */
export function receivedBefore(timeMs: number) {
  return (eb: Received) =>
    eb.and([eb('received_minute', '<=', receivedMinute(timeMs)), eb('received_ms', '<', timeMs)]);
}

/** Deletes sessions that `openSessions` inserted and that received no event. */
export async function dropEmptySessions(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<void> {
  await db
    .deleteFrom('sessions')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .where('event_count', '=', 0)
    .execute();
}

/** Returns a session, or `undefined` if there is none. */
export async function findSession(
  db: Database,
  tenantId: number,
  id: string,
): Promise<SessionSummary | undefined> {
  return (await findSessions(db, tenantId, [id])).get(id);
}

/** Changes that a write made to a session, in addition to its summary. */
export interface SessionChange {
  readonly summary: SessionSummary;
  /** Agents that acted in it for the first time. */
  readonly joinedAgentIds: readonly string[];
  /** Tools that were called in it for the first time. */
  readonly newToolNames: readonly string[];
  /** Arrival after which a new session starts; 0 unless events of a deleted session with its id are left. */
  readonly startArrival: number;
  /** `true` if an event older than all others arrived, which changes the session's position in lists. */
  readonly startChanged: boolean;
  /**
   * `true` if more than counts and end changed: the session is new, starts earlier, has a new agent or tool, or its first
   * error, denial or held action.
   */
  readonly isWidened: boolean;
}

/** Stores the summaries of sessions that received events. */
export async function saveSessions(
  db: Database,
  tenantId: number,
  changes: readonly SessionChange[],
): Promise<void> {
  // PostgreSQL skips indexes whose columns are unchanged, and a second statement would cost a second round trip.
  const isWhole = ({ isWidened }: SessionChange) => isWidened || isPostgres(db);
  await upsertSessions(
    db,
    changes.filter(isWhole).map(({ summary }) => sessionRow(tenantId, summary)),
  );
  await countEvents(
    db,
    changes.filter((change) => !isWhole(change)).map(({ summary }) => ({ ...summary, tenant_id: tenantId })),
  );
  for (const { summary, startArrival } of changes) {
    // The log has those before it.
    if (startArrival === 0) continue;
    await db
      .updateTable('sessions')
      .set({ log_arrival: startArrival })
      .where('tenant_id', '=', tenantId)
      .where('id', '=', summary.id)
      .execute();
  }
  const joined = changes.flatMap(({ summary, joinedAgentIds }) =>
    joinedAgentIds.map((agentId) => ({
      tenant_id: tenantId,
      agent_id: agentId,
      session_id: summary.id,
      started_ms: summary.started_ms,
      risk_score: summary.risk_score,
    })),
  );
  if (joined.length > 0) await upsertSessionAgents(db, joined);
  await saveSessionTools(db, tenantId, changes);
  for (const { summary, startChanged } of changes) {
    if (!startChanged) continue;
    for (const table of ['session_agents', 'session_tools'] as const) {
      await db
        .updateTable(table)
        .set({ started_ms: summary.started_ms })
        .where('tenant_id', '=', tenantId)
        .where('session_id', '=', summary.id)
        .execute();
    }
  }
}

/**
 * Stores the person that a session is assigned to, for lists.
 *
 * @param assigneeKey - the name as lists compare it; `null` for nobody
 */
export async function assignSessionTo(
  db: Database,
  tenantId: number,
  id: string,
  assigneeKey: string | null,
): Promise<void> {
  await db
    .updateTable('sessions')
    .set({ assignee_key: assigneeKey })
    .where('tenant_id', '=', tenantId)
    .where('id', '=', id)
    .execute();
}
