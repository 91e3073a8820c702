import { type Selectable, sql } from 'kysely';
import { bytesOf, querySliceWithin, type Slice, sliceWithin } from '../queries/slice.ts';
import type { SessionTable } from '../schema.ts';
import type { Database } from '../transaction.ts';
import { lowestIndexedScore, riskySessions } from './risky-session-list.ts';
import { type SessionSlice, searchSessions } from './searched-session-list.ts';
import type { SessionListOptions } from './session-list-options.ts';
import { largeSessionColumns, sessionSummary } from './session-store.ts';

/**
 * Returns a slice of sessions, newest first unless the options say otherwise. It has fewer than `limit` rows when they
 * are large, or when few of the sessions that one request may read pass the filters.
 */
export async function listSessions(db: Database, options: SessionListOptions): Promise<SessionSlice> {
  if (isSearch(options)) return searchSessions(db, options);
  const { rows, hasMore } = await sessionRows(db, options);
  return { rows: rows.map(sessionSummary), hasMore };
}

/** `true` if no index has exactly the sessions of the list in its order. */
function isSearch(options: SessionListOptions): boolean {
  const { sort, agentIdContains, idContains, toolName, level, status } = options;
  return (
    sort === 'riskScore' ||
    [agentIdContains, idContains, toolName, level, status].some((filter) => filter !== undefined)
  );
}

function sessionRows(db: Database, options: SessionListOptions): Promise<Slice<Selectable<SessionTable>>> {
  const { agentId, minRiskScore, limit } = options;
  if (minRiskScore !== undefined && minRiskScore >= lowestIndexedScore) {
    const slice = (count: number) => ({ ...options, minRiskScore, limit: count });
    return sliceWithin(limit, {
      async sizes(count) {
        const sizes = riskySessions<{ size: number }>(db, slice(count), bytesOf(...largeSessionColumns));
        return (await sizes.execute(db)).rows;
      },
      async rows(count) {
        const rows = riskySessions<Selectable<SessionTable>>(db, slice(count), sql`sessions.*`);
        return (await rows.execute(db)).rows;
      },
    });
  }
  const query = agentId === undefined ? ofTenant(db, options) : ofAgent(db, options, agentId);
  return querySliceWithin(limit, largeSessionColumns, query);
}

function ofTenant(db: Database, options: SessionListOptions) {
  const { after, startedAfterMs, startedBeforeMs, minRiskScore } = options;
  let query = db.selectFrom('sessions').selectAll().where('tenant_id', '=', options.tenantId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_ms', 'id'), '<', tuple(after.startedMs, after.id)),
    );
  }
  if (startedAfterMs !== undefined) query = query.where('started_ms', '>', startedAfterMs);
  if (startedBeforeMs !== undefined) query = query.where('started_ms', '<', startedBeforeMs);
  if (minRiskScore !== undefined) query = query.where('risk_score', '>=', minRiskScore);
  return query.orderBy('started_ms', 'desc').orderBy('id', 'desc');
}

function ofAgent(db: Database, options: SessionListOptions, agentId: string) {
  const { after, startedAfterMs, startedBeforeMs, minRiskScore } = options;
  let query = db
    .selectFrom('session_agents as acted')
    .innerJoin('sessions', (join) =>
      join.onRef('sessions.tenant_id', '=', 'acted.tenant_id').onRef('sessions.id', '=', 'acted.session_id'),
    )
    .selectAll('sessions')
    .where('acted.tenant_id', '=', options.tenantId)
    .where('acted.agent_id', '=', agentId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('acted.started_ms', 'acted.session_id'), '<', tuple(after.startedMs, after.id)),
    );
  }
  if (startedAfterMs !== undefined) query = query.where('acted.started_ms', '>', startedAfterMs);
  if (startedBeforeMs !== undefined) query = query.where('acted.started_ms', '<', startedBeforeMs);
  if (minRiskScore !== undefined) query = query.where('sessions.risk_score', '>=', minRiskScore);
  return query.orderBy('acted.started_ms', 'desc').orderBy('acted.session_id', 'desc');
}
