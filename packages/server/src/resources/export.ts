import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { notFound } from '../http/api-error.ts';
import { jsonType } from '../http/mount.ts';
import type { Call, OwnRoute } from '../http/route.ts';
import { isoTime } from '../iso-time.ts';
import { readRisk, type SessionWithRisk } from '../risk/read-risk.ts';
import type { Services } from '../services.ts';
import { type EventPosition, eventPage } from '../storage/event-log.ts';
import { storedEventJson } from '../storage/event-row.ts';
import { sessionView } from './session-view.ts';

/** Events that are in memory at once: few enough to be garbage before the collector moves them. */
const eventsAtOnce = 100;

/** Bytes of their payloads, unless one alone has more. */
const payloadBytesAtOnce = 128 * 1024;

/** Bytes of memory that an export takes: its largest events as rows, as text and on their way out. */
const memoryBytes = 1024 * 1024;

/** `GET /v1/sessions/:id/export.json`, streamed: its size is not bounded, the memory for it is. */
export function exportSession(services: Services): OwnRoute<'sessions.export'> {
  return {
    kind: 'own',
    async handle(call, reply) {
      const held = services.exportMemory.hold(memoryBytes);
      try {
        await send(services, call, reply);
      } finally {
        held.release();
      }
      return undefined;
    },
  };
}

/** Resolves when the whole document is sent, or its reader has gone. */
async function send(
  services: Services,
  { caller: { tenantId }, params, receivedMs }: Call<'sessions.export'>,
  reply: FastifyReply,
): Promise<void> {
  const found = await readRisk(services, tenantId, params.id, receivedMs);
  if (!found) throw notFound('session');
  // Who does not read on would keep its memory from others.
  reply.raw.setTimeout(services.unreadTimeoutMs);
  void reply
    .type(jsonType)
    .header('content-disposition', `attachment; filename="${fileName(params.id)}"`)
    .send(Readable.from(document(services, tenantId, found, receivedMs), { objectMode: false }));
  await finished(reply.raw).catch(() => {});
}

/** A name that every file system takes; the session's own id stands in the document. */
function fileName(id: string): string {
  return `session-${id.replaceAll(/[^\w.-]+/g, '_').slice(0, 100)}.json`;
}

/** The document in pieces, its members in the order of the reference profile. */
async function* document(
  services: Services,
  tenantId: number,
  { summary, risk }: SessionWithRisk,
  nowMs: number,
): AsyncGenerator<string> {
  const head = JSON.stringify({
    exportVersion: '1.0',
    exportedAt: isoTime(nowMs),
    session: sessionView(summary),
    risk,
  });
  yield `${head.slice(0, -1)},"events":`;
  const digest = createHash('sha256');
  let eventCount = 0;
  let separator = '[';
  let after: EventPosition | undefined;
  do {
    const { rows, hasMore } = await services.storage.read(tenantId, (db) =>
      eventPage(db, {
        tenantId,
        sessionId: summary.id,
        after,
        // What arrives while the document is sent is not in it: it shows one moment.
        lastArrival: summary.last_arrival,
        limit: eventsAtOnce,
        maxBytes: payloadBytesAtOnce,
      }),
    );
    let piece = '';
    for (const row of rows) {
      piece += separator + storedEventJson(row);
      separator = ',';
    }
    eventCount += rows.length;
    const last = hasMore ? rows.at(-1) : undefined;
    after = last && { sourceMs: last.source_ms, eventId: last.event_id };
    if (!after) piece += separator === '[' ? '[]' : ']';
    digest.update(piece);
    yield piece;
  } while (after);
  // Retention may drop the session meanwhile: what lacks events must not end like a whole document.
  if (eventCount < summary.event_count) throw new Error('A session was dropped while it was exported.');
  yield `,"eventCount":${eventCount},"contentSha256":"${digest.digest('hex')}"}`;
}
