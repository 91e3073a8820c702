import { toolCallCategory } from '@actlog/protocol';
import { ForwardError } from '../forward/destination.ts';
import { ApiError } from '../lib/api-error.ts';
import { lowestIdentifierOf } from '../lib/identifier.ts';
import { isoTime } from '../lib/iso-time.ts';
import type {
  EventReader,
  EventView,
  SearchedEvent,
  SearchedEvents,
  SessionView,
} from '../storage/event-reader.ts';
import type { EntryRanges } from '../storage/log/tenant-log.ts';
import { countWithin } from '../storage/queries.ts';
import type { Storage } from '../storage/storage.ts';
import { firstPlaceAt } from '../storage/stores/event-log.ts';
import { type EventSearch, type SearchPosition, searchOrder } from '../storage/stores/event-search.ts';
import { forwardPosition } from '../storage/stores/forward-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type ClickHouse, type QueryParameters, rangesCondition } from './click-house.ts';
import { erasedEntries, historyName } from './history-destination.ts';

/** Parts of {@link HistoryReader}. */
export interface HistoryReaderParts {
  readonly clickHouse: ClickHouse;
  readonly storage: Pick<Storage, 'read'>;
  /** Reads the events that are still in the database. */
  readonly stored: EventReader;
}

/** Columns of an event on the wire. */
const columns =
  'place, event_id, source_ms, received_ms, session_id, agent_id, source_timestamp, category, schema_version, identity, traceparent, payload';

interface EventRow {
  readonly place: number;
  readonly event_id: string;
  readonly source_ms: number;
  readonly received_ms: number;
  readonly session_id: string;
  readonly agent_id: string;
  readonly source_timestamp: string;
  readonly category: string;
  readonly schema_version: string;
  readonly identity: string;
  readonly traceparent: string;
  readonly payload: string;
}

/** A session in the history. */
export interface HistorySession {
  readonly view: SessionView;
  /** Times of its first and its last part, and of the newest receipt, in Unix milliseconds. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly receivedMs: number;
}

/** Maximum agents and tools of a session that are listed, as in the database. */
const maxListed = 1000;

/** Most parts of deletions that a read leaves out because ClickHouse has not deleted them yet. */
const maxErased = 1000;

/** Reads events in the database together with those that retention has deleted there. */
export class HistoryReader implements EventReader {
  readonly #parts: HistoryReaderParts;

  constructor(parts: HistoryReaderParts) {
    this.#parts = parts;
  }

  async search(search: EventSearch): Promise<SearchedEvents> {
    const [stored, kept] = await Promise.all([
      this.#parts.stored.search(search),
      this.#search(search).catch((error: unknown) => {
        // What the database has is shown without the history, and says so.
        if (error instanceof ForwardError) return undefined;
        throw error;
      }),
    ]);
    return kept ? merged(stored, kept, search.limit) : { ...stored, isHistoryMissing: true };
  }

  async session(read: Parameters<EventReader['session']>[0]): ReturnType<EventReader['session']> {
    const stored = await this.#parts.stored.session(read);
    if (stored) return stored;
    const { tenantId, sessionId, after, limit } = read;
    try {
      const session = await this.find(tenantId, sessionId);
      if (!session) return undefined;
      const rows = await this.#parts.clickHouse.rows<EventRow>(
        `select ${columns} from {events}
         where ${await this.#visible(tenantId)} and session_id = {session:String}
           ${after ? 'and place >= {place:Int64} and (source_ms, event_id) > ({source:Int64}, {event:String})' : ''}
         order by source_ms, event_id limit 1 by event_id limit {limit:UInt32}`,
        {
          tenant: tenantId,
          session: sessionId,
          limit: limit + 1,
          ...(after && {
            place: firstPlaceAt(after.sourceMs),
            source: after.sourceMs,
            event: after.eventId,
          }),
        },
      );
      const page = rows.slice(0, countWithin(rows.map(sized), limit));
      const last = page.length < rows.length ? page.at(-1) : undefined;
      return {
        session: session.view,
        events: page.map(eventOf),
        end: last && { sourceMs: last.source_ms, eventId: last.event_id },
      };
    } catch (error) {
      if (!(error instanceof ForwardError)) throw error;
      const message =
        'The session is not in the database, and the history cannot be reached. Send the request again later.';
      throw new ApiError('OVERLOADED', message, { retryAfterSeconds: 10, cause: error });
    }
  }

  /**
   * Returns a session in the history, without those of its events that are in the database alone.
   *
   * @throws ForwardError
   */
  async find(tenantId: number, sessionId: string): Promise<HistorySession | undefined> {
    const [row] = await this.#parts.clickHouse.rows<{
      readonly agent: string;
      readonly agents: string[];
      readonly started: number;
      readonly ended: number;
      readonly earliest: number;
      readonly latest: number;
      readonly received: number;
      readonly events: number;
      readonly errors: number;
      readonly tools: string[];
    }>(
      `select argMin(agent_id, log_index) as agent,
         arrayMap(entry -> entry.2, arraySort(groupArray(distinct (joined, agent_id)))) as agents,
         arrayMap(entry -> entry.2, arraySort(groupArrayIf(distinct (called, tool_name), tool_name <> ''))) as tools,
         min(source_ms) as started, max(source_ms) as ended,
         min(least(source_ms, received_ms)) as earliest, max(greatest(source_ms, received_ms)) as latest,
         max(received_ms) as received, count() as events, countIf(outcome in ('error', 'denied')) as errors
       from (
         select event_id, agent_id, tool_name, outcome, source_ms, received_ms, log_index,
           min(log_index) over (partition by agent_id) as joined,
           min(log_index) over (partition by tool_name) as called
         from {events} where ${await this.#visible(tenantId)} and session_id = {session:String}
         limit 1 by event_id
       )
       having events > 0`,
      { tenant: tenantId, session: sessionId },
    );
    if (!row) return undefined;
    const view = {
      id: sessionId,
      agentId: row.agent,
      agentIds: row.agents.slice(0, maxListed),
      startedAt: isoTime(row.started),
      lastEventAt: isoTime(row.ended),
      eventCount: row.events,
      errorCount: row.errors,
      toolNames: row.tools.slice(0, maxListed),
      // The database deletes the risk together with the session.
      risk: null,
    };
    return { view, fromMs: row.earliest, toMs: row.latest, receivedMs: row.received };
  }

  /** Returns the entries of a session's events in the log. @throws ForwardError */
  async entries(tenantId: number, sessionId: string): Promise<EntryRanges> {
    const rows = await this.#parts.clickHouse.rows<{ readonly first: number; readonly last: number }>(
      `select min(log_index) as first, max(log_index) as last from (
         select log_index, log_index - row_number() over (order by log_index) as run
         from (select distinct log_index from {events} where tenant_id = {tenant:UInt64} and session_id = {session:String})
       ) group by run order by first`,
      { tenant: tenantId, session: sessionId },
    );
    return rows.map(({ first, last }) => [first, last] as const);
  }

  async #search(search: EventSearch): Promise<SearchedEvents> {
    const { tenantId, limit, after } = search;
    const order = searchOrder(search);
    const conditions = [await this.#visible(tenantId), ...filterConditions(search)];
    const bound = (ms: number) => (order === 'place' ? firstPlaceAt(ms) : ms);
    const parameters: Record<string, string | number> = { ...filterParameters(search), tenant: tenantId };
    // The place is in the order of the table, so that old and new parts are skipped.
    const within = (condition: string, place: string) => {
      conditions.push(condition);
      if (order === 'source_ms') conditions.push(place);
    };
    if (search.sinceMs !== undefined) {
      parameters.since = bound(search.sinceMs);
      within(`${order} >= {since:Int64}`, 'place >= {since:Int64} * 32');
    }
    if (search.untilMs !== undefined) {
      parameters.until = bound(search.untilMs);
      within(`${order} < {until:Int64}`, 'place < {until:Int64} * 32');
    }
    if (after) {
      parameters.after = after.place;
      parameters.event = after.eventId;
      within(
        `${order} <= {after:Int64} and (${order} < {after:Int64} or event_id < {event:String})`,
        'place < ({after:Int64} + 1) * 32',
      );
    }
    const rows = await this.#parts.clickHouse.rows<EventRow>(
      `select ${columns} from {events} where ${conditions.join(' and ')}
       order by ${order} desc, event_id desc limit 1 by event_id limit {limit:UInt32}`,
      { ...parameters, limit: limit + 1 },
    );
    const events = rows.map((row) => ({
      ...sized(row),
      position: { place: row[order], eventId: row.event_id },
      event: eventOf(row),
    }));
    const page = events.slice(0, countWithin(events, limit));
    return { events: page, end: page.length < events.length ? page.at(-1)?.position : undefined };
  }

  /**
   * Returns the condition for the events of a tenant that no operator has deleted: those whose deletion ClickHouse has not
   * repeated yet are left out.
   */
  async #visible(tenantId: number): Promise<string> {
    const erased = await this.#parts.storage.read(tenantId, (db) => waitingDeletions(db, tenantId));
    const ofTenant = 'tenant_id = {tenant:UInt64}';
    if (erased.length === 0) return ofTenant;
    if (erased.length > maxErased) {
      throw new ForwardError('busy', 'the history has too many deletions to repeat first');
    }
    return `${ofTenant} and not (${rangesCondition(erased)})`;
  }
}

/** Returns the entries of events that operators deleted since the last entry that the history has. */
async function waitingDeletions(db: Database, tenantId: number): Promise<EntryRanges> {
  const next = (await forwardPosition(db, tenantId, historyName)) + 1;
  // Times of the log are kept by the minute. What was logged before this one was forwarded.
  const time = await db
    .selectFrom('log_times')
    .select('minute')
    .where('tenant_id', '=', tenantId)
    .where('first_index', '<=', next)
    .orderBy('first_index', 'desc')
    .limit(1)
    .executeTakeFirst();
  const sinceMs = Number(time?.minute ?? 0) * 60_000 - clockDifferenceMs;
  const entries = await deletionsSince(db, tenantId, sinceMs);
  return entries.flatMap((ranges) => [...ranges]);
}

/** Maximum difference of the clocks of two servers, in milliseconds. */
const clockDifferenceMs = 60_000;

/** Returns the entries of each deletion by an operator since a time. */
export async function deletionsSince(
  db: Database,
  tenantId: number,
  sinceMs: number,
): Promise<EntryRanges[]> {
  const rows = await db
    .selectFrom('log_deletions')
    .select('record')
    .where('tenant_id', '=', tenantId)
    .where('id', '>=', lowestIdentifierOf('del', sinceMs))
    .execute();
  return rows.flatMap(({ record }) => {
    const entries = erasedEntries(JSON.parse(record));
    return entries ? [entries] : [];
  });
}

function filterConditions(search: EventSearch): string[] {
  const { agentId, sessionId, toolName, category, status, argumentsHash } = search;
  const conditions: string[] = [];
  if (agentId !== undefined) conditions.push('agent_id = {agent:String}');
  if (sessionId !== undefined) conditions.push('session_id = {session:String}');
  if (category !== undefined) conditions.push('category = {category:String}');
  if (status !== undefined) conditions.push('outcome = {status:String}');
  if (toolName !== undefined) conditions.push('tool_name = {tool:String}');
  if (argumentsHash !== undefined) conditions.push('arguments_hash = {hash:String}');
  if (toolName !== undefined || argumentsHash !== undefined) {
    conditions.push(`category = '${toolCallCategory}'`);
  }
  return conditions;
}

function filterParameters(search: EventSearch): QueryParameters {
  const { agentId, sessionId, toolName, category, status, argumentsHash } = search;
  const given = { agent: agentId, session: sessionId, tool: toolName, category, status, hash: argumentsHash };
  return Object.fromEntries(
    Object.entries(given).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/**
 * Returns the newest events of two pages of one search, without those that both have. A page that is not the last one says
 * nothing about events after its end, so the merged page ends there too.
 */
export function merged(stored: SearchedEvents, kept: SearchedEvents, limit: number): SearchedEvents {
  const ends = [stored.end, kept.end].filter((end) => end !== undefined);
  const end = ends.sort(newestFirst)[0];
  const known = new Set<string>();
  const events = [...stored.events, ...kept.events]
    .sort((left, right) => newestFirst(left.position, right.position))
    .filter(({ position }) => {
      if (known.has(position.eventId)) return false;
      known.add(position.eventId);
      return end === undefined || newestFirst(position, end) <= 0;
    });
  const page = events.slice(0, countWithin(events, limit));
  if (page.length < events.length) return { events: page, end: page.at(-1)?.position };
  const isSearched = end !== undefined && end === stored.end;
  return { events: page, end, ...(isSearched && { searchedToMs: stored.searchedToMs }) };
}

function newestFirst(left: SearchPosition, right: SearchPosition): number {
  if (left.place !== right.place) return right.place - left.place;
  if (left.eventId === right.eventId) return 0;
  return left.eventId < right.eventId ? 1 : -1;
}

function sized({ payload }: EventRow): Pick<SearchedEvent, 'size'> {
  return { size: payload.length };
}

function eventOf(row: EventRow): EventView {
  return {
    eventId: row.event_id,
    agentId: row.agent_id,
    sessionId: row.session_id,
    sourceTimestamp: row.source_timestamp,
    category: row.category,
    schemaVersion: row.schema_version,
    receivedAt: isoTime(row.received_ms),
    ...(row.identity !== '' && { identity: JSON.parse(row.identity) }),
    ...(row.traceparent !== '' && { traceparent: row.traceparent }),
    payload: JSON.parse(row.payload),
  };
}
