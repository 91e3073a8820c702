import type { SentOf } from '@actlog/protocol';
import { isoTime } from '../lib/iso-time.ts';
import { listSessions } from './sessions/session-list.ts';
import { findSession, type SessionSummary } from './sessions/session-store.ts';
import type { SessionListOptions, SessionPlace } from './sessions/session-walk.ts';
import type { Storage } from './storage.ts';
import { findCallEnds, type StoredCallEnd } from './stores/call-history-store.ts';
import { type EventPosition, eventPage, storedEvent } from './stores/event-log.ts';
import {
  type EventSearch,
  needsKeys,
  type SearchPosition,
  searchEvents,
  searchOrder,
} from './stores/event-search.ts';
import { type HighestScore, highestScores, type TimesOfScores } from './stores/risk-store.ts';
import type { Database } from './transaction.ts';

/** An event as the wire shows it. */
export type EventView = SentOf<'sessions.get'>['events'][number];

/** An event that a search has found. */
export interface SearchedEvent {
  readonly position: SearchPosition;
  /** Size of its payload, in bytes of JSON. */
  readonly size: number;
  readonly event: EventView;
}

/** A page of a search, newest first. */
export interface SearchedEvents {
  readonly events: readonly SearchedEvent[];
  /** Position of the next page; `undefined` for the last one. */
  readonly end: SearchPosition | undefined;
  /** Source time down to which the page has looked, if it ends for the number of events that it looked at. */
  readonly searchedToMs?: number | undefined;
  /** `true` if events that retention has deleted from the database could not be searched. */
  readonly isHistoryMissing?: boolean;
}

/** A session as the wire shows it. */
export type SessionView = SentOf<'sessions.list'>['items'][number];

/** A page of a session's events, oldest first. */
export interface SessionEvents {
  readonly session: SessionView;
  readonly events: readonly EventView[];
  /** Position of the next page; `undefined` for the last one. */
  readonly end: EventPosition | undefined;
}

/** Options for {@link EventReader.session}. */
export interface SessionRead {
  readonly tenantId: number;
  readonly sessionId: string;
  /** Position after which the page starts. */
  readonly after: EventPosition | undefined;
  readonly limit: number;
}

/** A session in a list. */
export type ListedSession = Pick<
  SessionSummary,
  | 'id'
  | 'agent_id'
  | 'agentIds'
  | 'started_ms'
  | 'last_event_ms'
  | 'event_count'
  | 'error_count'
  | 'toolNames'
  | 'risk_score'
  | 'risk_level'
>;

/** A slice of a list of sessions. */
export interface SessionSlice {
  readonly rows: readonly ListedSession[];
  readonly hasMore: boolean;
  /** Place after which the next slice starts, unless it is that of the last row. */
  readonly end?: SessionPlace | undefined;
}

/** A session that retention has deleted from the database. */
export interface DeletedSession {
  readonly session: SessionView;
  /** Its risk when it was deleted, without the time of the response; `undefined` if it was not kept. */
  readonly risk: Omit<SentOf<'sessions.risk'>, 'computedAt'> | undefined;
  /** Returns a page of its events as JSON, oldest first. */
  page(
    after: EventPosition | undefined,
    limit: number,
    maxBytes: number,
  ): Promise<{ readonly events: readonly string[]; readonly end: EventPosition | undefined }>;
}

/** Reads of events, wherever they are kept. */
export interface EventReader {
  /** Returns a page of the events of all sessions that pass filters. */
  search(search: EventSearch): Promise<SearchedEvents>;
  /** Returns a session with a page of its events; `undefined` if there is no such session. */
  session(read: SessionRead): Promise<SessionEvents | undefined>;
  /** Returns a slice of a list of sessions. */
  sessions(options: SessionListOptions): Promise<SessionSlice>;
  /** Returns the first sessions of a list that are not in the database any more. */
  deletedSessions(options: SessionListOptions): Promise<readonly ListedSession[]>;
  /** Returns a session that is not in the database any more; `undefined` if there is none. */
  deleted(tenantId: number, sessionId: string): Promise<DeletedSession | undefined>;
  /** Returns the highest scores of agents' sessions; see {@link highestScores}. */
  highestScores(tenantId: number, agentIds: readonly string[], times: TimesOfScores): Promise<HighestScore[]>;
  /** Returns how calls ended, by the ids of their events; see {@link findCallEnds}. */
  callEnds(tenantId: number, eventIds: readonly string[]): Promise<ReadonlyMap<string, StoredCallEnd>>;
}

/** Reads the events in the database. */
export function storedEvents(storage: Pick<Storage, 'read'>): EventReader {
  return {
    search: (search) =>
      storage.read(search.tenantId, async (db) => {
        const mayLackKeys = !search.among && needsKeys(search) && (await mayLackEntries(db, search.tenantId));
        const among = mayLackKeys ? 'all' : search.among;
        const { rows, end, searchedToMs } = await searchEvents(db, { ...search, among });
        const order = searchOrder(search);
        const events = rows.map((row) => ({
          position: { place: Number(row[order]), eventId: row.event_id },
          size: row.payload.length,
          event: storedEvent(row),
        }));
        return { events, end, searchedToMs };
      }),
    session: ({ tenantId, sessionId, after, limit }) =>
      storage.read(tenantId, async (db) => {
        const summary = await findSession(db, tenantId, sessionId);
        if (!summary) return undefined;
        const { rows, end } = await eventPage(db, { tenantId, sessionId, after, limit });
        return { session: sessionView(summary), events: rows.map(storedEvent), end };
      }),
    sessions: (options) => storage.read(options.tenantId, (db) => listSessions(db, options)),
    deletedSessions: async () => [],
    deleted: async () => undefined,
    highestScores: (tenantId, agentIds, times) =>
      storage.read(tenantId, (db) => highestScores(db, tenantId, agentIds, times)),
    callEnds: (tenantId, eventIds) => storage.read(tenantId, (db) => findCallEnds(db, tenantId, eventIds)),
  };
}

/** Returns a session as the wire shows it. */
export function sessionView(summary: ListedSession): SessionView {
  return {
    id: summary.id,
    agentId: summary.agent_id,
    agentIds: summary.agentIds,
    startedAt: isoTime(summary.started_ms),
    lastEventAt: isoTime(summary.last_event_ms),
    eventCount: summary.event_count,
    errorCount: summary.error_count,
    toolNames: summary.toolNames,
    risk:
      summary.risk_score === null || summary.risk_level === null
        ? null
        : { score: summary.risk_score, level: summary.risk_level },
  };
}

/** Name of the row that says whether the servers of a database have a history, or when the last of them started without. */
const historyRow = 'history_used';

/** Records whether the servers of a database have a history, so that commands know that they need its address. */
export async function recordHistoryUse(db: Database, isUsed: boolean): Promise<void> {
  const rows = db.updateTable('deployment').where('name', '=', historyRow);
  if (!isUsed) {
    await rows
      .set({ value: String(Date.now()) })
      .where('value', '=', 'true')
      .execute();
    return;
  }
  await db
    .insertInto('deployment')
    .values({ name: historyRow, value: 'true' })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: 'true' }))
    .execute();
}

/** Returns `true` if the server that started last has a history. */
export async function usesHistory(db: Database): Promise<boolean> {
  return (await historyUse(db)) === 'true';
}

async function historyUse(db: Database): Promise<string | undefined> {
  const query = db.selectFrom('deployment').select('value').where('name', '=', historyRow);
  return (await query.executeTakeFirst())?.value;
}

/** Time for which servers with a history may go on after the first that started without it, in milliseconds. */
const changeMs = 24 * 3_600_000;

/** Returns `true` if a tenant may have events that were recorded with a history, which was removed since. */
async function mayLackEntries(db: Database, tenantId: number): Promise<boolean> {
  const removedMs = Number(await historyUse(db));
  if (Number.isNaN(removedMs)) return false;
  const oldest = await db
    .selectFrom('sessions')
    .select(({ fn }) => fn.min<number | null>('started_ms').as('ms'))
    .where('tenant_id', '=', tenantId)
    .executeTakeFirst();
  return Number(oldest?.ms ?? Number.POSITIVE_INFINITY) <= removedMs + changeMs;
}
