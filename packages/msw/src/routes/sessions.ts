import type { SentOf } from '@actlog/protocol';
import { expireActions } from '../policy/pending.ts';
import { notFound } from '../service/api-error.ts';
import type { Call, Route } from '../service/call.ts';
import { listName, type Placed, pageOf } from '../service/page.ts';
import { matchingSessions } from '../tenant/matching-sessions.ts';
import type { EventRecord } from '../tenant/records.ts';
import type { Session } from '../tenant/session.ts';
import type { Tenant } from '../tenant/tenant.ts';

type Filters = Call<'sessions.list'>['query'];

/** `GET /v1/sessions`. */
export const listSessions: Route<'sessions.list'> = ({ tenant, query, nowMs }) =>
  sessionsPage(tenant, 'sessions.list', query, nowMs);

/** `GET /v1/agents/:id/sessions`. */
export const listAgentSessions: Route<'agents.sessions'> = ({ tenant, params, query, nowMs }) => {
  if (!tenant.agents.has(params.id)) throw notFound('agent');
  return sessionsPage(tenant, 'agents.sessions', { ...query, agentId: params.id }, nowMs);
};

/** `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
export const getSession: Route<'sessions.get'> = ({ tenant, params, query, nowMs }) => {
  const session = sessionOf(tenant, params.id, nowMs);
  const list = listName('sessions.get', params);
  const { rows, nextCursor } = pageOf(tenant.cursors, list, query, inTime(session), 'oldest first');
  return { ...session.record, events: rows, nextCursor };
};

/** `GET /v1/sessions/:id/risk`. */
export const getRisk: Route<'sessions.risk'> = ({ tenant, params, nowMs }) =>
  riskOf(params.id, sessionOf(tenant, params.id, nowMs), nowMs);

/** `GET /v1/sessions/:id/export.json`. */
export const exportSession: Route<'sessions.export'> = async ({ tenant, params, nowMs, responseHeaders }) => {
  const session = sessionOf(tenant, params.id, nowMs);
  const { rows: events } = pageOf(
    tenant.cursors,
    '',
    { limit: session.events.length },
    inTime(session),
    'oldest first',
  );
  const name = params.id.replaceAll(/[^\w.-]+/g, '_').slice(0, 100);
  responseHeaders.set('content-disposition', `attachment; filename="session-${name}.json"`);
  return {
    exportVersion: '1.0',
    exportedAt: new Date(nowMs).toISOString(),
    session: session.record,
    risk: riskOf(params.id, session, nowMs),
    events,
    eventCount: events.length,
    // JSON without white space writes a part exactly as it writes the part alone.
    contentSha256: await sha256(JSON.stringify(events)),
  };
};

function sessionOf(tenant: Tenant, id: string, nowMs: number): Session {
  expireActions(tenant, nowMs);
  const session = tenant.sessions.get(id);
  if (session) return session;
  throw notFound('session');
}

function sessionsPage(
  tenant: Tenant,
  endpoint: string,
  filters: Filters,
  nowMs: number,
): SentOf<'sessions.list'> {
  expireActions(tenant, nowMs);
  const matching = matchingSessions(tenant, filters);
  const { rows, nextCursor } = pageOf(tenant.cursors, listName(endpoint, filters), filters, matching);
  return { items: rows, nextCursor };
}

function inTime({ events }: Session): Placed<EventRecord>[] {
  return events.map((row) => ({ row, at: [Date.parse(row.sourceTimestamp), row.eventId] }));
}

function riskOf(sessionId: string, session: Session, nowMs: number): SentOf<'sessions.risk'> {
  const computedAt = new Date(nowMs).toISOString();
  // The engine's arrays are read-only; the response is serialized immediately.
  return { sessionId, computedAt, ...session.risk } as unknown as SentOf<'sessions.risk'>;
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
