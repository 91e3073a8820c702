import type { ListEndpointName, SentOf } from '@actlog/protocol';
import { readPage } from '../http/page.ts';
import type { ReadRoute } from '../http/route.ts';
import { notFound } from '../lib/api-error.ts';
import type { Services } from '../services.ts';
import { listSessions } from '../storage/sessions/session-list.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import { eventPage } from '../storage/stores/event-log.ts';
import { storedEvent } from '../storage/stores/event-row.ts';
import type { Database } from '../storage/transaction.ts';
import { sessionView } from './session-view.ts';

/** Filters of both lists of sessions. */
interface SessionFilters {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
  readonly agentId?: string | undefined;
  readonly startedAfter?: string | undefined;
  readonly startedBefore?: string | undefined;
  readonly minRiskScore?: number | undefined;
}

/** Returns a page of sessions, newest first. Its cursor is bound to `endpoint`. */
export async function sessionsPage(
  { cursors }: Services,
  db: Database,
  tenantId: number,
  endpoint: ListEndpointName,
  filters: SessionFilters,
): Promise<SentOf<'sessions.list'>> {
  const time = (value: string | undefined) => (value === undefined ? undefined : Date.parse(value));
  const { rows, nextCursor } = await readPage(
    cursors,
    { tenantId, endpoint, filters: { ...filters } },
    filters,
    ({ after, limit }) =>
      listSessions(db, {
        tenantId,
        agentId: filters.agentId,
        startedAfterMs: time(filters.startedAfter),
        startedBeforeMs: time(filters.startedBefore),
        minRiskScore: filters.minRiskScore,
        after: after && { startedMs: after[0] as number, id: after[1] as string },
        limit,
      }),
    (row) => [row.started_ms, row.id],
  );
  return { items: rows.map(sessionView), nextCursor };
}

/** Route `GET /v1/sessions`. */
export function listSessionsRoute(services: Services): ReadRoute<'sessions.list'> {
  return {
    kind: 'read',
    prepare: ({ caller }) => services.scoring.beforeList(caller.tenantId),
    handle: ({ caller, query }, db) => sessionsPage(services, db, caller.tenantId, 'sessions.list', query),
  };
}

/** Route `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
export function getSession({ cursors, scoring }: Services): ReadRoute<'sessions.get'> {
  return {
    kind: 'read',
    prepare: ({ caller }) => scoring.beforeList(caller.tenantId),
    async handle({ caller: { tenantId }, params, query }, db) {
      const summary = await findSession(db, tenantId, params.id);
      if (!summary) throw notFound('session');
      const { rows, nextCursor } = await readPage(
        cursors,
        { tenantId, endpoint: 'sessions.get', filters: { id: params.id } },
        query,
        ({ after, limit }) =>
          eventPage(db, {
            tenantId,
            sessionId: params.id,
            after: after && { sourceMs: after[0] as number, eventId: after[1] as string },
            limit,
          }),
        (row) => [row.source_ms, row.event_id],
      );
      return { ...sessionView(summary), events: rows.map(storedEvent), nextCursor };
    },
  };
}
