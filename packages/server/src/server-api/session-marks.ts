import {
  type NotableEvent,
  riskyEvents,
  type SentOf,
  type SessionMarkBucket,
  type SessionMarkCounts,
  type SessionMarks,
  type SessionPlace,
} from '@actlog/protocol';
import { sentenceOf, toolCallsOf } from '@actlog/risk';
import * as z from 'zod';
import type { Cursors } from '../http/page.ts';
import { requireScope } from '../http/request-gate.ts';
import { sessionPath } from '../http/request-input.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { notFound, validationError } from '../lib/api-error.ts';
import { isoTime, timeMs } from '../lib/iso-time.ts';
import { type RiskParts, readRisk, type SessionWithRisk } from '../risk/read-risk.ts';
import { findSession } from '../storage/sessions/session-store.ts';
import {
  countedEvents,
  eventBefore,
  eventCounts,
  eventMarks,
  eventTimes,
  findEvents,
  firstMarked,
  type MarkCount,
  markCounts,
  storedEvent,
  type TimeParts,
} from '../storage/stores/event-log.ts';
import type { Database } from '../storage/transaction.ts';

/** Maximum parts of a session's time. */
const maxBuckets = 240;

/** Maximum events that are named as evidence, and for each other reason. */
const named = { risky: 12, marked: 4 } as const;

/**
 * Route `GET /server/v1/sessions/:id/marks`: what stands out in all events of a session. It reads entries of indexes and
 * the stored risk, so its cost is bounded for a session of any length.
 */
export function sessionMarksRoute(parts: RiskParts): ServerRoute {
  return {
    method: 'GET',
    path: '/sessions/:id/marks',
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, id }): Promise<SessionMarks> {
      sessionPath({ id });
      const found = await readRisk(parts, tenantId, id, Date.now());
      if (!found) throw notFound('session');
      return parts.storage.read(tenantId, (db) => sessionMarks(db, tenantId, found));
    },
  };
}

/** Events before a place that its page begins with, so that a reader sees what led to it. */
const eventsAround = 50;

/** Query of `GET /server/v1/sessions/:id/place`. */
const placeQuery = z.strictObject({
  /** Time of the place. */
  at: timeMs.optional(),
  /** Id of the event at the place, instead of a time. */
  event: z.string().min(1).optional(),
});

/**
 * Route `GET /server/v1/sessions/:id/place`: the page of a session's events that has a time or an event, so that a reader
 * gets there without reading the pages before it.
 */
export function sessionPlaceRoute({
  storage,
  cursors,
}: RiskParts & { readonly cursors: Cursors }): ServerRoute<typeof placeQuery> {
  return {
    method: 'GET',
    path: '/sessions/:id/place',
    success: 200,
    query: placeQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller: { tenantId }, id, query: { at, event } }): Promise<SessionPlace> {
      sessionPath({ id });
      if ((at === undefined) === (event === undefined)) {
        throw validationError('query.at', 'one_of', 'or `event` is needed, and not both');
      }
      return storage.read(tenantId, async (db) => {
        const session = await findSession(db, tenantId, id);
        if (!session) throw notFound('session');
        const atMs = at ?? (await eventTimes(db, tenantId, [event as string])).get(event as string);
        if (atMs === undefined) throw notFound('event');
        const found = await eventBefore(
          db,
          { tenantId, sessionId: id, startMs: session.started_ms },
          atMs,
          eventsAround,
        );
        if (!found) return { cursor: null, before: 0 };
        const { sourceMs, eventId } = found.position;
        const scope = { tenantId, endpoint: 'sessions.get', filters: { id } } as const;
        return { cursor: cursors.seal(scope, [sourceMs, eventId]), before: found.count };
      });
    },
  };
}

async function sessionMarks(
  db: Database,
  tenantId: number,
  { summary, risk, state }: SessionWithRisk,
): Promise<SessionMarks> {
  const { id, started_ms: startMs, last_event_ms: lastMs } = summary;
  const lengthMs = Math.max(1, Math.ceil((lastMs - startMs + 1) / maxBuckets));
  const count = Math.ceil((lastMs - startMs + 1) / lengthMs);
  const time: TimeParts = { tenantId, sessionId: id, startMs, lengthMs, count };
  const evidence = evidenceOf(risk);
  const times = await eventTimes(db, tenantId, evidence);
  const risky = Array.from(times.values(), (ms) => Math.floor((ms - startMs) / lengthMs));
  const marked = await markCounts(db, time);
  const events = await eventCounts(db, time);
  const buckets: SessionMarkBucket[] = events.flatMap((counted, part) =>
    counted === 0
      ? []
      : {
          at: isoTime(startMs + part * lengthMs),
          events: counted,
          ...countsOf(
            marked.filter((each) => each.part === part),
            risky.filter((each) => each === part).length,
          ),
        },
  );
  return {
    sessionId: id,
    sentence: sentenceOf(state, summary.toolNames),
    eventCount: summary.event_count,
    counts: countsOf(marked, risky.length),
    tools: toolCallsOf(state, summary.toolNames),
    isComplete: Object.values(eventMarks).every((mark) => sumOf(marked, mark) < countedEvents.perMark),
    bucketMs: lengthMs,
    buckets,
    notable: await notableEvents(db, tenantId, id, evidence),
  };
}

/** Returns the events that raise the risk, strongest first. */
function evidenceOf({ factors = [], dimensions = [] }: SentOf<'sessions.risk'>): string[] {
  const known = new Set(factors.map(({ ruleId }) => ruleId));
  const others = dimensions
    .flatMap((dimension) => dimension.factors)
    .filter(({ ruleId }) => !known.has(ruleId));
  return [...riskyEvents([...factors, ...others]).keys()];
}

function sumOf(marked: readonly MarkCount[], mark: number): number {
  return marked.reduce((sum, each) => sum + (each.mark === mark ? each.events : 0), 0);
}

/** Returns counts. A denied action has a decision and the call that reports it, and counts once. */
function countsOf(marked: readonly MarkCount[], risky: number): SessionMarkCounts {
  return {
    errors: sumOf(marked, eventMarks.error),
    denials: Math.max(sumOf(marked, eventMarks.denied), sumOf(marked, eventMarks.refused)),
    held: sumOf(marked, eventMarks.held),
    risky,
  };
}

/** Members of payloads that say what an event is about. */
const namingMembers = [
  'toolName',
  'responseStatus',
  'decision',
  'policyId',
  'policyName',
  'toAgentId',
  'model',
  'key',
];

async function notableEvents(
  db: Database,
  tenantId: number,
  sessionId: string,
  evidence: readonly string[],
): Promise<NotableEvent[]> {
  const ids = new Set(evidence.slice(0, named.risky));
  for (const mark of [eventMarks.refused, eventMarks.denied, eventMarks.held, eventMarks.error] as const) {
    if (ids.size >= named.risky + 3 * named.marked) break;
    for (const id of await firstMarked(db, tenantId, sessionId, mark, named.marked)) ids.add(id);
  }
  const rows = [...(await findEvents(db, tenantId, [...ids])).values()];
  return rows
    .sort(
      (one, other) =>
        Number(one.source_ms) - Number(other.source_ms) || (one.event_id < other.event_id ? -1 : 1),
    )
    .map((row) => {
      const { eventId, agentId, sourceTimestamp, category, payload } = storedEvent(row);
      const naming: Record<string, string | number> = {};
      for (const name of namingMembers) {
        const value = (payload as Record<string, unknown>)[name];
        if (typeof value === 'number') naming[name] = value;
        if (typeof value === 'string') naming[name] = value.slice(0, 200);
      }
      return { eventId, agentId, sourceTimestamp, category, payload: naming };
    });
}
