import type { CallEnd, CallHistory, StoredHistory } from '@actlog/policy';
import { toolCallCategory } from '@actlog/protocol';
import type { Selectable } from 'kysely';
import { lowestIdentifierOf } from '../../lib/identifier.ts';
import { daysKept, retentionPolicy } from '../retention/retention.ts';
import type { EventTable } from '../schema.ts';
import { bulkInsert, type Database, preparedQuery } from '../transaction.ts';
import { findEvents } from './event-log.ts';

const summaryOf = preparedQuery((db, tenantId: number, sessionId: string) =>
  db
    .selectFrom('call_histories')
    .select(['summary', 'updated_ms'])
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId),
);

const callsOf = preparedQuery((db, tenantId: number, sessionId: string) =>
  db
    .selectFrom('session_calls')
    .select(['number', 'call'])
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .orderBy('number'),
);

/** A history as it was read. */
export interface ReadHistory extends StoredHistory {
  /** Time of the last call, or up to an hour before, in Unix milliseconds. */
  readonly updatedMs: number;
}

/** Returns the stored history of a session's calls, or `undefined` if there is none. */
export async function findCallHistory(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<ReadHistory | undefined> {
  const [row] = await summaryOf(db, tenantId, sessionId);
  if (!row) return undefined;
  const calls = await callsOf(db, tenantId, sessionId);
  return {
    summary: row.summary,
    updatedMs: Number(row.updated_ms),
    calls: calls.map(({ number, call }) => ({ number: Number(number), text: call })),
  };
}

const saveSummary = bulkInsert(
  'call_histories',
  ['tenant_id', 'session_id', 'updated_ms', 'summary'],
  (insert) =>
    insert.onConflict((conflict) =>
      conflict.columns(['tenant_id', 'session_id']).doUpdateSet(({ ref }) => ({
        updated_ms: ref('excluded.updated_ms'),
        summary: ref('excluded.summary'),
      })),
    ),
);

const saveCalls = bulkInsert('session_calls', ['tenant_id', 'session_id', 'number', 'call'], (insert) =>
  insert.onConflict((conflict) =>
    conflict
      .columns(['tenant_id', 'session_id', 'number'])
      .doUpdateSet(({ ref }) => ({ call: ref('excluded.call') })),
  ),
);

/** Time for which the age of a history is not written with each call, in milliseconds. */
export const agePrecisionMs = 3_600_000;

/** Stores what has changed in the history of a session's calls since it was read, or all of a new one. */
export async function saveCallHistory(
  db: Database,
  {
    tenantId,
    sessionId,
    history,
    nowMs,
    updatedMs = 0,
  }: {
    readonly tenantId: number;
    readonly sessionId: string;
    readonly history: CallHistory;
    readonly nowMs: number;
    /** `updatedMs` of the history as it was read; undefined for a new one. */
    readonly updatedMs?: number | undefined;
  },
): Promise<void> {
  const { isSummaryChanged, calls, removed } = history.changes;
  const key = { tenant_id: tenantId, session_id: sessionId };
  // First, because the calls refer to it.
  if (isSummaryChanged || updatedMs <= nowMs - agePrecisionMs) {
    await saveSummary(db, [{ ...key, updated_ms: nowMs, summary: history.summary }]);
  }
  if (removed.length > 0) {
    await db
      .deleteFrom('session_calls')
      .where('tenant_id', '=', tenantId)
      .where('session_id', '=', sessionId)
      .where('number', 'in', removed)
      .execute();
  }
  await saveCalls(
    db,
    calls.map(({ number, text }) => ({ ...key, number, call: text })),
  );
}

/** Deletes the history of a session, which may have checks without an event. */
export async function dropCallHistory(db: Database, tenantId: number, sessionId: string): Promise<void> {
  await db
    .deleteFrom('call_histories')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .execute();
}

/** Time of a session's first event or kept decision, in Unix milliseconds, and the days that the tenant keeps sessions. */
export async function sessionBegin(
  db: Database,
  tenantId: number,
  sessionId: string,
): Promise<{ readonly begunMs: number | undefined; readonly retentionDays: number | null }> {
  const session = await db
    .selectFrom('sessions')
    .select('started_ms')
    .where('tenant_id', '=', tenantId)
    .where('id', '=', sessionId)
    .executeTakeFirst();
  const decision = await db
    .selectFrom('policy_decisions')
    .select('decided_ms')
    .where('tenant_id', '=', tenantId)
    .where('session_id', '=', sessionId)
    .where('id', '>=', lowestIdentifierOf('dec', 0))
    .orderBy('id')
    .limit(1)
    .executeTakeFirst();
  const times = [session?.started_ms, decision?.decided_ms].flatMap((time) =>
    time === undefined ? [] : [Number(time)],
  );
  // No retention has deleted anything of a session that begins.
  if (times.length === 0) return { begunMs: undefined, retentionDays: null };
  return {
    begunMs: Math.min(...times),
    retentionDays: daysKept(await retentionPolicy(db, tenantId), 'sessions'),
  };
}

const toolsOf = preparedQuery((db, tenantId: number, agentId: string) =>
  db
    .selectFrom('agent_tools')
    .select('tools')
    .where('tenant_id', '=', tenantId)
    .where('agent_id', '=', agentId),
);

/** Returns the stored tools of an agent, or `undefined` if there are none. */
export async function findAgentTools(
  db: Database,
  tenantId: number,
  agentId: string,
): Promise<string | undefined> {
  return (await toolsOf(db, tenantId, agentId))[0]?.tools;
}

/** Stores the tools of an agent. */
export async function saveAgentTools(
  db: Database,
  row: { readonly tenant_id: number; readonly agent_id: string; readonly tools: string },
): Promise<void> {
  await db
    .insertInto('agent_tools')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant_id', 'agent_id']).doUpdateSet({ tools: row.tools }))
    .execute();
}

/** End of a call in its session. */
export interface StoredCallEnd extends CallEnd {
  readonly sessionId: string;
}

/**
 * Returns how calls ended, by the ids of their events. An event reports the end of a checked call if its `eventId` is
 * the check's `actionId`.
 *
 * @param eventIds - ids in lower case
 */
export async function findCallEnds(
  db: Database,
  tenantId: number,
  eventIds: readonly string[],
): Promise<ReadonlyMap<string, StoredCallEnd>> {
  if (eventIds.length === 0) return new Map();
  const events = await findEvents(db, tenantId, eventIds);
  return new Map(
    [...events].flatMap(([id, event]) => {
      return event.category === toolCallCategory ? [[id, callEnd(event)] as const] : [];
    }),
  );
}

/** Returns how a call ended by its event. */
export function callEnd(
  event: Pick<Selectable<EventTable>, 'agent_id' | 'session_id' | 'received_ms' | 'payload'>,
): StoredCallEnd {
  const { toolName, argumentsHash, responseStatus } = JSON.parse(event.payload) as CallEnd;
  const { agent_id: agentId, session_id: sessionId } = event;
  const receivedMs = Number(event.received_ms);
  return { agentId, sessionId, toolName, argumentsHash, responseStatus, receivedMs };
}
