import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { FastifyReply } from 'fastify';
import { jsonType } from '../http/mount.ts';
import type { Call, OwnRoute } from '../http/route.ts';
import { notFound } from '../lib/api-error.ts';
import { isoTime } from '../lib/iso-time.ts';
import { readRisk, type SessionWithRisk } from '../risk/read-risk.ts';
import type { Services } from '../services.ts';
import { type EventPosition, eventPage } from '../storage/stores/event-log.ts';
import { storedEventJson } from '../storage/stores/event-row.ts';
import { sessionView } from './session-view.ts';

/** Number of events in memory at once: few enough to be collected before they are promoted to the old generation. */
const eventsAtOnce = 100;

/** Maximum bytes of their payloads, unless a single event has more. */
const payloadBytesAtOnce = 128 * 1024;

/** Memory of an export, in bytes: its largest events as rows, as text and in the send buffer. */
const memoryBytes = 1024 * 1024;

/** Route `GET /v1/sessions/:id/export.json`, streamed with a fixed amount of memory. */
export function exportSession(services: Services): OwnRoute<'sessions.export'> {
  return {
    kind: 'own',
    async handle(call, reply) {
      const reserved = services.exportMemory.reserve(memoryBytes);
      try {
        await services.turns.take();
        await send(services, call, reply);
      } finally {
        reserved.release();
      }
      return undefined;
    },
  };
}

/** Resolves when the whole document is sent or the client has disconnected. */
async function send(
  services: Services,
  { caller: { tenantId }, params, receivedMs }: Call<'sessions.export'>,
  reply: FastifyReply,
): Promise<void> {
  const found = await readRisk(services, tenantId, params.id, receivedMs);
  if (!found) throw notFound('session');
  void reply
    .type(jsonType)
    .header('content-disposition', `attachment; filename="${fileName(params.id)}"`)
    .send(Readable.from(document(services, tenantId, found, receivedMs), { objectMode: false }));
  await finished(reply.raw).catch(() => {});
}

/** Returns a name that is valid in every file system. The document contains the session's id. */
function fileName(id: string): string {
  return `session-${id.replaceAll(/[^\w.-]+/g, '_').slice(0, 100)}.json`;
}

/** Yields the document in pieces, with members in the order of the reference profile. */
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
    await services.turns.take();
    const { rows, hasMore } = await services.storage.read(tenantId, (db) =>
      eventPage(db, {
        tenantId,
        sessionId: summary.id,
        after,
        // Leaves out events that arrive during the export, so that the document is one snapshot.
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
  // If retention deleted the session meanwhile, the document must not look complete.
  if (eventCount < summary.event_count) throw new Error('The session was deleted during its export.');
  yield `,"eventCount":${eventCount},"contentSha256":"${digest.digest('hex')}"}`;
}
