import { lowestIndexedScore, riskySessions } from './risky-session-list.ts';
import type { SessionListOptions } from './session-list-options.ts';
import { type SessionSummary, sessionSummary } from './session-store.ts';
import { type Slice, sliceOf } from './slice.ts';
import type { Database } from './transaction.ts';

/** A slice of sessions, newest first. */
export function listSessions(db: Database, options: SessionListOptions): Promise<Slice<SessionSummary>> {
  return sliceOf(options.limit, (limit) => sessions(db, { ...options, limit }));
}

async function sessions(db: Database, options: SessionListOptions): Promise<SessionSummary[]> {
  const { minRiskScore } = options;
  if (minRiskScore !== undefined && minRiskScore >= lowestIndexedScore) {
    const { rows } = await riskySessions(db, { ...options, minRiskScore }).execute(db);
    return rows.map(sessionSummary);
  }
  const query = options.agentId === undefined ? ofTenant(db, options) : ofAgent(db, options, options.agentId);
  return (await query.execute()).map(sessionSummary);
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
  return query.orderBy('started_ms', 'desc').orderBy('id', 'desc').limit(options.limit);
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
  return query.orderBy('acted.started_ms', 'desc').orderBy('acted.session_id', 'desc').limit(options.limit);
}
