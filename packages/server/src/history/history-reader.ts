import { AsyncLocalStorage } from 'node:async_hooks';
import { type RiskLevel, toolCallCategory } from '@actlog/protocol';
import { sql } from 'kysely';
import { ForwardError } from '../forward/destination.ts';
import { ApiError } from '../lib/api-error.ts';
import { lowestIdentifierOf } from '../lib/identifier.ts';
import { isoTime } from '../lib/iso-time.ts';
import type {
  DeletedSession,
  EventReader,
  ListedSession,
  SearchedEvent,
  SearchedEvents,
  SessionSlice,
  SessionView,
} from '../storage/event-reader.ts';
import { type EntryRanges, logHead } from '../storage/log/tenant-log.ts';
import { findSessions } from '../storage/sessions/session-store.ts';
import type { SessionListOptions, SessionPlace } from '../storage/sessions/session-walk.ts';
import { countWithin } from '../storage/slices.ts';
import type { Storage } from '../storage/storage.ts';
import { callEnd } from '../storage/stores/call-history-store.ts';
import {
  type EventPosition,
  firstPlaceAt,
  storedEvent,
  storedEventJson,
} from '../storage/stores/event-log.ts';
import {
  type EventSearch,
  needsKeys,
  type SearchedPart,
  type SearchPosition,
  searchOrder,
} from '../storage/stores/event-search.ts';
import { forwardPosition } from '../storage/stores/forward-store.ts';
import type { HighestScore, TimesOfScores } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import {
  type ClickHouse,
  type HistoryRow,
  type HistorySessionRow,
  type QueryParameters,
  rangesCondition,
} from './click-house.ts';
import { erasedEntries, historyName } from './history-destination.ts';

/** Parts of {@link HistoryReader}. */
export interface HistoryReaderParts {
  readonly clickHouse: ClickHouse;
  readonly storage: Pick<Storage, 'read'>;
  /** Reads the events that are still in the database. */
  readonly stored: EventReader;
}

/** Called with the time since which the history cannot be reached, in Unix milliseconds. */
type OnMissing = (sinceMs: number) => void;

/** Columns of an event on the wire. */
const columns =
  'place, event_id, source_ms, received_ms, session_id, agent_id, source_timestamp, category, schema_version, identity, traceparent, payload';

type EventRow = Omit<HistoryRow, 'tenant_id' | 'log_index' | 'tool_name' | 'outcome' | 'arguments_hash'>;

/** A session in the history. */
export interface HistorySession {
  readonly view: SessionView;
  /** Its risk when retention deleted it from the database; `undefined` while the database has it. */
  readonly risk: DeletedSession['risk'];
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
  readonly #requests = new AsyncLocalStorage<OnMissing>();
  #missingSinceMs: number | undefined;

  constructor(parts: HistoryReaderParts) {
    this.#parts = parts;
  }

  /**
   * Runs the work of a request.
   *
   * @param onMissing - called when a read of the history fails during the work, with the time of the first failed one
   *   since the history was reached
   */
  during(onMissing: OnMissing, work: () => void): void {
    this.#requests.run(onMissing, work);
  }

  async search(search: EventSearch): Promise<SearchedEvents> {
    const { storage, stored } = this.#parts;
    // Read before the history, so that an event that is sent in the meantime is found in both and not in neither.
    const unsent = needsKeys(search)
      ? await storage.read(search.tenantId, (db) => unsentEvents(db, search.tenantId))
      : undefined;
    const parts = unsent ? (['indexed', unsent] as const) : (['all'] as const);
    const pages = await Promise.all(parts.map((among) => stored.search({ ...search, among })));
    const kept = await this.#ifReached(this.#search(search));
    if (kept) return pages.reduce((left, right) => merged(left, right, search.limit), kept);
    // What the database has is shown without the history, and says so.
    const [page] = unsent ? [await stored.search({ ...search, among: 'all' })] : pages;
    return { ...(page as SearchedEvents), isHistoryMissing: true };
  }

  async session(read: Parameters<EventReader['session']>[0]): ReturnType<EventReader['session']> {
    const stored = await this.#parts.stored.session(read);
    if (stored) return stored;
    const { tenantId, sessionId, after, limit } = read;
    return this.#reached('The session is not in the database', async () => {
      const session = await this.find(tenantId, sessionId);
      if (!session) return undefined;
      const { rows, end } = await this.#eventsOf(tenantId, sessionId, after, limit);
      return { session: session.view, events: rows.map((row) => storedEvent(storedRow(row))), end };
    });
  }

  async deleted(tenantId: number, sessionId: string): Promise<DeletedSession | undefined> {
    return this.#reached('The session is not in the database', async () => {
      const session = await this.find(tenantId, sessionId);
      return (
        session && {
          session: session.view,
          risk: session.risk,
          page: (after, limit, maxBytes) =>
            this.#reached('The rest of the session is not in the database', async () => {
              const { rows, end } = await this.#eventsOf(tenantId, sessionId, after, limit, maxBytes);
              return { events: rows.map((row) => storedEventJson(storedRow(row))), end };
            }),
        }
      );
    });
  }

  async sessions(options: SessionListOptions): Promise<SessionSlice> {
    const { limit } = options;
    const [stored, kept] = await Promise.all([
      this.#parts.stored.sessions(options),
      // Without the history, lists have the sessions of the database, and the response says so.
      this.#ifReached(this.#sessions(options)),
    ]);
    return kept ? mergedSessions(stored, kept, limit, options.sort === 'riskScore') : stored;
  }

  async deletedSessions(options: SessionListOptions): Promise<readonly ListedSession[]> {
    const found: ListedSession[] = [];
    let after = options.after;
    do {
      const kept = await this.#ifReached(this.#sessions({ ...options, after }));
      if (!kept) return found;
      found.push(...kept.rows);
      after = kept.hasMore ? kept.end : undefined;
    } while (after && found.length < options.limit);
    return found.slice(0, options.limit);
  }

  async highestScores(
    tenantId: number,
    agentIds: readonly string[],
    times: TimesOfScores,
  ): Promise<HighestScore[]> {
    const stored = await this.#parts.stored.highestScores(tenantId, agentIds, times);
    const { startsMs, lengthMs } = times;
    if (agentIds.length === 0 || startsMs.length === 0) return stored;
    const read = async () =>
      this.#parts.clickHouse.rows<HighestScore>(
        `select agentId, max(floor(risk_score)) as score,
           arrayFirst(start -> started_ms >= start and started_ms < start + {length:Int64}, {starts:Array(Int64)}) as startMs
         from {sessions} array join agent_ids as agentId
         where ${await this.#visible(tenantId)} and risk_score >= 1 and agentId in ({agents:Array(String)})
           and started_ms >= {from:Int64} and started_ms < {to:Int64}
         group by agentId, startMs`,
        {
          tenant: tenantId,
          agents: agentIds,
          starts: startsMs,
          length: lengthMs,
          from: Math.min(...startsMs),
          to: Math.max(...startsMs) + lengthMs,
        },
      );
    const kept = (await this.#ifReached(read())) ?? [];
    const byPart = Map.groupBy([...stored, ...kept], ({ agentId, startMs }) => `${startMs} ${agentId}`);
    return [...byPart.values()].map((same) =>
      same.reduce((highest, each) => (each.score > highest.score ? each : highest)),
    );
  }

  async callEnds(tenantId: number, eventIds: readonly string[]): ReturnType<EventReader['callEnds']> {
    const stored = await this.#parts.stored.callEnds(tenantId, eventIds);
    const missing = eventIds.filter((id) => !stored.has(id));
    if (missing.length === 0) return stored;
    const rows = await this.#reached('Some calls are not in the database', async () =>
      this.#parts.clickHouse.rows<EventRow>(
        `select event_id, session_id, agent_id, received_ms, payload from {events}
         where ${await this.#visible(tenantId)} and event_id in ({ids:Array(String)})
           and category = '${toolCallCategory}' limit 1 by event_id`,
        { tenant: tenantId, ids: missing },
      ),
    );
    return new Map([...stored, ...rows.map((row) => [row.event_id, callEnd(row)] as const)]);
  }

  /** Returns the result of a read; `undefined` if the history cannot be reached. */
  async #ifReached<Result>(read: Promise<Result>): Promise<Result | undefined> {
    try {
      const result = await read;
      this.#missingSinceMs = undefined;
      return result;
    } catch (error) {
      if (!(error instanceof ForwardError)) throw error;
      this.#missingSinceMs ??= Date.now();
      this.#requests.getStore()?.(this.#missingSinceMs);
      return undefined;
    }
  }

  /** Runs a read that the history is needed for. @throws ApiError `OVERLOADED` when it cannot be reached. */
  async #reached<Result>(missing: string, read: () => Promise<Result>): Promise<Result> {
    const result = await this.#ifReached(read().then((found) => ({ found })));
    if (result) return result.found;
    const message = `${missing}, and the history in ClickHouse cannot be reached. Send the request again later.`;
    throw new ApiError('OVERLOADED', message, { retryAfterSeconds: 10 });
  }

  /** Returns a page of a session's events in the history, oldest first. @throws ForwardError */
  async #eventsOf(
    tenantId: number,
    sessionId: string,
    after: EventPosition | undefined,
    limit: number,
    maxBytes?: number,
  ): Promise<{ readonly rows: readonly EventRow[]; readonly end: EventPosition | undefined }> {
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
    const page = rows.slice(0, countWithin(rows.map(sized), limit, maxBytes));
    const last = page.length < rows.length ? page.at(-1) : undefined;
    return { rows: page, end: last && { sourceMs: last.source_ms, eventId: last.event_id } };
  }

  /** Returns a slice of the sessions in the history that are not in the database. @throws ForwardError */
  async #sessions(options: SessionListOptions): Promise<SessionSlice> {
    const { tenantId, limit, sort, after } = options;
    const isByRisk = sort === 'riskScore';
    // Who a session was assigned to is deleted with it.
    if (options.assigneeKey != null) return { rows: [], hasMore: false };
    const filters = sessionFilters(options);
    const visible = await this.#visible(tenantId);
    const conditions = [visible, ...filters.conditions];
    if (after) {
      const [left, right] = isByRisk
        ? ['(risk_score, started_ms, session_id)', '({rank:Float64}, {started:Int64}, {id:String})']
        : ['(started_ms, session_id)', '({started:Int64}, {id:String})'];
      conditions.push(`${left} < ${right}`);
    }
    const order = `${isByRisk ? 'risk_score desc, ' : ''}started_ms desc, session_id desc`;
    const found = await this.#parts.clickHouse.rows<Omit<HistorySessionRow, 'tenant_id' | 'risk'>>(
      `select * except (tenant_id, risk) from {sessions} where ${conditions.join(' and ')}
       order by ${order}, log_index desc limit 1 by started_ms, session_id limit {limit:UInt32}`,
      {
        ...filters.parameters,
        tenant: tenantId,
        limit: limit + 1,
        ...(after && { rank: after.rank ?? 0, started: after.startedMs, id: after.id }),
      },
    );
    if (found.length === 0) return { rows: [], hasMore: false };
    const ids = found.map(({ session_id: id }) => id);
    const [stored, newest] = await Promise.all([
      this.#parts.storage.read(tenantId, (db) => findSessions(db, tenantId, ids)),
      this.#parts.clickHouse.rows<{ readonly id: string; readonly entry: number }>(
        `select session_id as id, max(log_index) as entry from {sessions}
         where ${visible} and session_id in ({ids:Array(String)}) group by session_id`,
        { tenant: tenantId, ids },
      ),
    ]);
    const entries = new Map(newest.map(({ id, entry }) => [id, entry]));
    const page = found.slice(0, limit);
    const last = page.at(-1);
    return {
      // A session that went on is listed as it is now.
      rows: page
        .filter(({ session_id: id, log_index: entry }) => !stored.has(id) && entry === entries.get(id))
        .map(listedSession),
      hasMore: page.length < found.length,
      ...(last && {
        end: {
          startedMs: last.started_ms,
          id: last.session_id,
          ...(isByRisk && { rank: last.risk_score }),
        },
      }),
    };
  }

  /**
   * Returns a session in the history, without its events that only the database has.
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
    const [scored] = await this.#parts.clickHouse.rows<Pick<HistorySessionRow, 'risk'>>(
      `select risk from {sessions} where ${await this.#visible(tenantId)} and session_id = {session:String}
       order by log_index desc limit 1`,
      { tenant: tenantId, session: sessionId },
    );
    const risk = scored && (JSON.parse(scored.risk) as DeletedSession['risk']);
    const view = {
      id: sessionId,
      agentId: row.agent,
      agentIds: row.agents.slice(0, maxListed),
      startedAt: isoTime(row.started),
      lastEventAt: isoTime(row.ended),
      eventCount: row.events,
      errorCount: row.errors,
      toolNames: row.tools.slice(0, maxListed),
      risk: risk ? { score: risk.score, level: risk.level } : null,
    };
    return { view, risk, fromMs: row.earliest, toMs: row.latest, receivedMs: row.received };
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
    const filters = eventFilters(search);
    const conditions = [await this.#visible(tenantId), ...filters.conditions];
    const bound = (ms: number) => (order === 'place' ? firstPlaceAt(ms) : ms);
    const parameters: Record<string, QueryParameters[string]> = { ...filters.parameters, tenant: tenantId };
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
      event: storedEvent(storedRow(row)),
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

/** Maximum events that the history does not have yet and one search reads. It has more of them after an outage. */
const maxUnsent = 20_000;

/** Returns the events that the history may not have; `undefined` if they are too many for one search. */
async function unsentEvents(db: Database, tenantId: number): Promise<SearchedPart | undefined> {
  const afterEntry = await forwardPosition(db, tenantId, historyName);
  const { size } = await logHead(db, tenantId);
  const unlogged = await db
    .selectFrom('sessions')
    .select(sql<number | null>`sum(last_arrival - log_arrival)`.as('events'))
    .where('tenant_id', '=', tenantId)
    .where('is_unlogged', '=', sql.lit(1))
    .executeTakeFirst();
  const count = size - 1 - afterEntry + Number(unlogged?.events ?? 0);
  return count > maxUnsent ? undefined : { afterEntry };
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

/** Conditions of a query, with their parameters. */
interface Filters {
  readonly conditions: string[];
  readonly parameters: QueryParameters;
}

/** Returns the conditions whose parameter has a value. Each is named as its parameter is in the condition. */
function filtersOf(
  filters: Readonly<Record<string, readonly [condition: string, value: string | number | undefined]>>,
): Filters {
  const given = Object.entries(filters).flatMap(([name, [condition, value]]) =>
    value === undefined ? [] : [{ name, condition, value }],
  );
  return {
    conditions: given.map(({ condition }) => condition),
    parameters: Object.fromEntries(given.map(({ name, value }) => [name, value])),
  };
}

function eventFilters(search: EventSearch): Filters {
  const { conditions, parameters } = filtersOf({
    agent: ['agent_id = {agent:String}', search.agentId],
    session: ['session_id = {session:String}', search.sessionId],
    category: ['category = {category:String}', search.category],
    status: ['outcome = {status:String}', search.status],
    tool: ['tool_name = {tool:String}', search.toolName],
    hash: ['arguments_hash = {hash:String}', search.argumentsHash],
  });
  if (search.toolName !== undefined || search.argumentsHash !== undefined) {
    conditions.push(`category = '${toolCallCategory}'`);
  }
  return { conditions, parameters };
}

/**
 * Returns the first items of two pages of one list. A page that is not the last one says nothing about items after its end,
 * so the joined page ends there too.
 *
 * @param countOf - number of the items that fit into a page
 */
function joined<Item, Place>(
  items: readonly Item[],
  ends: readonly (Place | undefined)[],
  placeOf: (item: Item) => Place,
  inOrder: (left: Place, right: Place) => number,
  countOf: (items: readonly Item[]) => number,
): { readonly page: readonly Item[]; readonly end: Place | undefined } {
  const end = ends.filter((each) => each !== undefined).sort(inOrder)[0];
  const known = items
    .filter((item) => end === undefined || inOrder(placeOf(item), end) <= 0)
    .sort((left, right) => inOrder(placeOf(left), placeOf(right)));
  const page = known.slice(0, countOf(known));
  const last = page.at(-1);
  return { page, end: page.length < known.length ? last && placeOf(last) : end };
}

/** Returns the newest events of two pages of one search, each once. */
export function merged(stored: SearchedEvents, kept: SearchedEvents, limit: number): SearchedEvents {
  const byId = new Map([...kept.events, ...stored.events].map((event) => [event.position.eventId, event]));
  const { page, end } = joined(
    [...byId.values()],
    [stored.end, kept.end],
    ({ position }) => position,
    newestFirst,
    (events) => countWithin(events, limit),
  );
  const ending = [stored, kept].find((each) => end !== undefined && each.end === end);
  return { events: page, end, ...(ending && { searchedToMs: ending.searchedToMs }) };
}

function sessionFilters(options: SessionListOptions): Filters {
  return filtersOf({
    agent: ['has(agent_ids, {agent:String})', options.agentId],
    agentPart: [
      'arrayExists(id -> position(lower(id), {agentPart:String}) > 0, agent_ids)',
      options.agentIdContains?.toLowerCase(),
    ],
    idPart: ['position(lower(session_id), {idPart:String}) > 0', options.idContains?.toLowerCase()],
    tool: ['has(tool_names, {tool:String})', options.toolName],
    level: ['risk_level = {level:String}', options.level],
    status: ['has(statuses, {status:String})', options.status],
    from: ['started_ms > {from:Int64}', options.startedAfterMs],
    to: ['started_ms < {to:Int64}', options.startedBeforeMs],
    lowest: ['risk_score >= {lowest:Float64}', options.minRiskScore],
  });
}

function listedSession(row: Omit<HistorySessionRow, 'tenant_id' | 'risk'>): ListedSession {
  const isScored = row.risk_level !== '';
  return {
    id: row.session_id,
    agent_id: row.agent_id,
    agentIds: [...row.agent_ids],
    started_ms: row.started_ms,
    last_event_ms: row.last_event_ms,
    event_count: row.event_count,
    error_count: row.error_count,
    toolNames: [...row.tool_names],
    risk_score: isScored ? row.risk_score : null,
    risk_level: isScored ? (row.risk_level as RiskLevel) : null,
  };
}

/** Returns the first sessions of two slices of one list that have no session in common. */
function mergedSessions(
  stored: SessionSlice,
  kept: SessionSlice,
  limit: number,
  isByRisk: boolean,
): SessionSlice {
  const placeOf = ({ started_ms: startedMs, id, risk_score: score }: ListedSession): SessionPlace => ({
    startedMs,
    id,
    ...(isByRisk && { rank: score ?? -1 }),
  });
  const endOf = ({ rows, hasMore, end }: SessionSlice) => {
    const last = rows.at(-1);
    return hasMore ? (end ?? (last && placeOf(last))) : undefined;
  };
  const { page, end } = joined(
    [...stored.rows, ...kept.rows],
    [endOf(stored), endOf(kept)],
    placeOf,
    inListOrder,
    () => limit,
  );
  return { rows: page, hasMore: end !== undefined, end };
}

function inListOrder(left: SessionPlace, right: SessionPlace): number {
  const orderOf = ({ rank = 0, startedMs, id }: SessionPlace) => [rank, startedMs, id];
  return descending(orderOf(left), orderOf(right));
}

function newestFirst(left: SearchPosition, right: SearchPosition): number {
  return descending([left.place, left.eventId], [right.place, right.eventId]);
}

function descending(left: readonly (number | string)[], right: readonly (number | string)[]): number {
  const at = left.findIndex((value, index) => value !== right[index]);
  if (at < 0) return 0;
  return (left[at] as number) < (right[at] as number) ? 1 : -1;
}

function sized({ payload }: EventRow): Pick<SearchedEvent, 'size'> {
  return { size: payload.length };
}

/** Returns an event as the database would have it. */
function storedRow(row: EventRow) {
  return { ...row, identity: row.identity || null, traceparent: row.traceparent || null };
}
