import type { ListEndpointName, SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import type * as z from 'zod';
import type { Position } from '../http/cursor.ts';
import { readPage } from '../http/page.ts';
import type { ReadRoute } from '../http/route.ts';
import { notFound } from '../lib/api-error.ts';
import type { Services } from '../services.ts';
import { listSessions } from '../storage/sessions/session-list.ts';
import type { SessionPlace } from '../storage/sessions/session-place.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import { eventPage } from '../storage/stores/event-log.ts';
import { storedEvent } from '../storage/stores/event-row.ts';
import type { Database } from '../storage/transaction.ts';
import { sessionView } from './session-view.ts';

/** Filters of both lists of sessions. */
type SessionFilters = z.output<Contract['sessions.list']['query']>;

/** Returns the place in a cursor. */
function placeOf(position: Position): SessionPlace {
  const [startedMs, id, rank] = position as [number, string, number?];
  return { startedMs, id, rank };
}

/** Returns the content of the cursor after a place. */
function positionOf({ startedMs, id, rank }: SessionPlace): Position {
  return rank === undefined ? [startedMs, id] : [startedMs, id, rank];
}

/** Returns a page of sessions. Its cursor is bound to `endpoint`. */
export async function sessionsPage(
  { cursors }: Services,
  db: Database,
  tenantId: number,
  endpoint: ListEndpointName,
  filters: SessionFilters,
): Promise<SentOf<'sessions.list'>> {
  const { limit: _, cursor: __, startedAfter, startedBefore, ...rest } = filters;
  const time = (value: string | undefined) => (value === undefined ? undefined : Date.parse(value));
  const { rows, nextCursor } = await readPage(
    cursors,
    { tenantId, endpoint, filters: { ...filters } },
    filters,
    async ({ after, limit }) => {
      const { end, ...slice } = await listSessions(db, {
        ...rest,
        tenantId,
        startedAfterMs: time(startedAfter),
        startedBeforeMs: time(startedBefore),
        after: after && placeOf(after),
        limit,
      });
      return { ...slice, endPosition: end && positionOf(end) };
    },
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
