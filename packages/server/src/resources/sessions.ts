import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { personKey } from '@actlog/policy';
import type { ListEndpointName, SentOf } from '@actlog/protocol';
import type { Contract } from '@actlog/protocol/schemas';
import { emptySession, score } from '@actlog/risk';
import type { FastifyReply } from 'fastify';
import type * as z from 'zod';
import type { RequestMemory } from '../http/limits/request-memory.ts';
import type { LoopTurns } from '../http/limits/turns.ts';
import { jsonType } from '../http/mount.ts';
import { type Cursors, type Position, readPage } from '../http/page.ts';
import type { Call, OwnRoute } from '../http/route.ts';
import { notFound } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import { type RiskParts, readRisk } from '../risk/read-risk.ts';
import type { RiskScoring } from '../risk/risk-scoring.ts';
import {
  type DeletedSession,
  type EventReader,
  type SessionView,
  sessionView,
} from '../storage/event-reader.ts';
import type { SessionPlace } from '../storage/sessions/session-walk.ts';
import { type EventPosition, eventPage, storedEventJson } from '../storage/stores/event-log.ts';

/** Filters of all lists of sessions. */
type SessionFilters = z.output<Contract['sessions.list']['query']> & {
  /** Name of the person that the sessions are assigned to; `null` for nobody. */
  readonly assignee?: string | null | undefined;
};

/** Returns the place in a cursor. */
function placeOf(position: Position): SessionPlace {
  const [startedMs, id, rank] = position as [number, string, number?];
  return { startedMs, id, rank };
}

/** Returns the content of the cursor after a place. */
function positionOf({ startedMs, id, rank }: SessionPlace): Position {
  return rank === undefined ? [startedMs, id] : [startedMs, id, rank];
}

/** Parts of the lists of sessions. */
export interface SessionListParts {
  readonly cursors: Cursors;
  readonly scoring: RiskScoring;
  readonly events: EventReader;
}

/** Returns a page of sessions. Its cursor is bound to `endpoint`. */
export async function sessionsPage(
  { cursors, events }: Pick<SessionListParts, 'cursors' | 'events'>,
  tenantId: number,
  endpoint: ListEndpointName,
  filters: SessionFilters,
): Promise<SentOf<'sessions.list'>> {
  const { limit: _, cursor: __, startedAfter, startedBefore, assignee, ...rest } = filters;
  const time = (value: string | undefined) => (value === undefined ? undefined : Date.parse(value));
  const { rows, nextCursor } = await readPage(
    cursors,
    { tenantId, endpoint, filters: { ...filters } },
    filters,
    async ({ after, limit }) => {
      const { rows, hasMore, end } = await events.sessions({
        ...rest,
        tenantId,
        assigneeKey: assignee == null ? assignee : personKey(assignee),
        startedAfterMs: time(startedAfter),
        startedBeforeMs: time(startedBefore),
        after: after && placeOf(after),
        limit,
      });
      return { rows: [...rows], hasMore, endPosition: end && positionOf(end) };
    },
    (row) => [row.started_ms, row.id],
  );
  return { items: rows.map(sessionView), nextCursor };
}

/** Route `GET /v1/sessions`. */
export function listSessionsRoute(parts: SessionListParts): OwnRoute<'sessions.list'> {
  return {
    kind: 'own',
    async handle({ caller: { tenantId }, query }) {
      await parts.scoring.beforeList(tenantId);
      return sessionsPage(parts, tenantId, 'sessions.list', query);
    },
  };
}

/** Route `GET /v1/sessions/:id`: the session with a page of its events, oldest first. */
export function getSession({ cursors, scoring, events }: SessionListParts): OwnRoute<'sessions.get'> {
  return {
    kind: 'own',
    async handle({ caller: { tenantId }, params, query }) {
      await scoring.beforeList(tenantId);
      let session: SessionView | undefined;
      const page = await readPage(
        cursors,
        { tenantId, endpoint: 'sessions.get', filters: { id: params.id } },
        query,
        async ({ after, limit }) => {
          const found = await events.session({
            tenantId,
            sessionId: params.id,
            after: after && { sourceMs: after[0] as number, eventId: after[1] as string },
            limit,
          });
          if (!found) throw notFound('session');
          session = found.session;
          const { end } = found;
          return {
            rows: [...found.events],
            hasMore: end !== undefined,
            endPosition: end && [end.sourceMs, end.eventId],
          };
        },
        ({ sourceTimestamp, eventId }) => [Date.parse(sourceTimestamp), eventId],
      );
      return { ...(session as SessionView), events: page.rows, nextCursor: page.nextCursor };
    },
  };
}

/** Route `GET /v1/sessions/:id/risk`: the score over ten dimensions, with its factors. */
export function getRisk(parts: RiskParts & { readonly events: EventReader }): OwnRoute<'sessions.risk'> {
  return {
    kind: 'own',
    async handle({ caller: { tenantId }, params: { id }, receivedMs }) {
      const found = await readRisk(parts, tenantId, id, receivedMs);
      if (found) return found.risk;
      const deleted = await parts.events.deleted(tenantId, id);
      if (!deleted) throw notFound('session');
      return riskOf(deleted, receivedMs);
    },
  };
}

/** Returns the risk of a session that retention has deleted from the database: it does not change any more. */
function riskOf({ session, risk }: DeletedSession, nowMs: number): SentOf<'sessions.risk'> {
  const { id: sessionId } = session;
  const kept = risk ?? { sessionId, ...score(emptySession()) };
  return { ...kept, computedAt: isoTime(nowMs) } as SentOf<'sessions.risk'>;
}

/** Number of events in memory at once: few enough to be collected before they are promoted to the old generation. */
const eventsAtOnce = 100;

/** Maximum bytes of their payloads, unless a single event has more. */
const payloadBytesAtOnce = 128 * 1024;

/** Memory of an export, in bytes: its largest events as rows, as text and in the send buffer. */
const memoryBytes = 1024 * 1024;

/** Parts of {@link exportSession}. */
export interface ExportParts extends RiskParts {
  readonly events: EventReader;
  /** Limits the memory of exports while they are sent. */
  readonly exportMemory: RequestMemory;
  /** Spreads large reads over turns of the event loop. */
  readonly turns: LoopTurns;
}

/** Route `GET /v1/sessions/:id/export.json`, streamed with a fixed amount of memory. */
export function exportSession(parts: ExportParts): OwnRoute<'sessions.export'> {
  return {
    kind: 'own',
    async handle(call, reply) {
      const reserved = parts.exportMemory.reserve(memoryBytes);
      try {
        await parts.turns.take();
        await send(parts, call, reply);
      } finally {
        reserved.release();
      }
      return undefined;
    },
  };
}

/** Resolves when the whole document is sent or the client has disconnected. */
async function send(
  parts: ExportParts,
  { caller: { tenantId }, params, receivedMs }: Call<'sessions.export'>,
  reply: FastifyReply,
): Promise<void> {
  const found = await exported(parts, tenantId, params.id, receivedMs);
  if (!found) throw notFound('session');
  void reply
    .type(jsonType)
    .header('content-disposition', `attachment; filename="${fileName(params.id)}"`)
    .send(Readable.from(document(parts.turns, found, receivedMs), { objectMode: false }));
  await finished(reply.raw).catch(() => {});
}

/** A session to export. */
interface ExportedSession extends Pick<DeletedSession, 'session' | 'page'> {
  readonly risk: SentOf<'sessions.risk'>;
}

/** Returns a session to export, wherever it is kept; `undefined` if there is none. */
async function exported(
  parts: ExportParts,
  tenantId: number,
  sessionId: string,
  nowMs: number,
): Promise<ExportedSession | undefined> {
  const found = await readRisk(parts, tenantId, sessionId, nowMs);
  if (!found) {
    const deleted = await parts.events.deleted(tenantId, sessionId);
    return deleted && { ...deleted, risk: riskOf(deleted, nowMs) };
  }
  const { summary, risk } = found;
  return {
    session: sessionView(summary),
    risk,
    async page(after, limit, maxBytes) {
      // Leaves out events that arrive during the export, so that the document is one snapshot.
      const options = { tenantId, sessionId, after, lastArrival: summary.last_arrival, limit, maxBytes };
      const { rows, end } = await parts.storage.read(tenantId, (db) => eventPage(db, options));
      return { events: rows.map(storedEventJson), end };
    },
  };
}

/** Returns a name that is valid in every file system. The document contains the session's id. */
function fileName(id: string): string {
  return `session-${id.replaceAll(/[^\w.-]+/g, '_').slice(0, 100)}.json`;
}

/** Yields the document in pieces, with members in the order of the reference profile. */
async function* document(
  turns: LoopTurns,
  { session, risk, page }: ExportedSession,
  nowMs: number,
): AsyncGenerator<string> {
  const head = JSON.stringify({ exportVersion: '1.0', exportedAt: isoTime(nowMs), session, risk });
  yield `${head.slice(0, -1)},"events":`;
  const digest = createHash('sha256');
  let eventCount = 0;
  let separator = '[';
  let after: EventPosition | undefined;
  do {
    await turns.take();
    const { events, end } = await page(after, eventsAtOnce, payloadBytesAtOnce);
    let piece = '';
    for (const event of events) {
      piece += separator + event;
      separator = ',';
    }
    eventCount += events.length;
    after = end;
    if (!after) piece += separator === '[' ? '[]' : ']';
    digest.update(piece);
    yield piece;
  } while (after);
  // If the session was deleted meanwhile, the document must not look complete.
  if (eventCount < session.eventCount) throw new Error('The session was deleted during its export.');
  yield `,"eventCount":${eventCount},"contentSha256":"${digest.digest('hex')}"}`;
}
