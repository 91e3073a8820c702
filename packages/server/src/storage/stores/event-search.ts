import { toolCallCategory } from '@actlog/protocol';
import { type RawBuilder, type Selectable, sql } from 'kysely';
import type { EventTable } from '../schema.ts';
import { bytesOf, countWithin } from '../slices.ts';
import { type Database, isPostgres } from '../transaction.ts';
import {
  type CallOutcome,
  eventMarks,
  eventsOfRanges,
  findEvents,
  firstPlaceAt,
  searchKey,
  type ToolCall,
} from './event-log.ts';

/** Filters of a search over the events of all sessions. An event must pass all of them. */
export interface EventSearchFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Only calls of this tool. */
  readonly toolName?: string | undefined;
  readonly category?: string | undefined;
  /** Only tool calls with this outcome. */
  readonly status?: CallOutcome | undefined;
  /** Only calls with arguments of this hash. */
  readonly argumentsHash?: string | undefined;
  /** Earliest source time (inclusive). */
  readonly sinceMs?: number | undefined;
  /** Time before which the event happened (exclusive). */
  readonly untilMs?: number | undefined;
}

/** Filters and page of a search. */
export interface EventSearch extends EventSearchFilters {
  readonly tenantId: number;
  /** Position after which the page starts. */
  readonly after?: SearchPosition | undefined;
  readonly limit: number;
  /** Maximum events that one page looks at. Default: 5,000. */
  readonly maxWalked?: number | undefined;
  /** Events that a search with {@link needsKeys} looks at. Default: those with keys, and all if some may have none */
  readonly among?: SearchedPart | undefined;
}

/** Events with keys, which indexes find; all, one after the other; or those in the log after an entry, or not in it yet. */
export type SearchedPart = 'indexed' | 'all' | { readonly afterEntry: number };

/** `true` for a search whose events only the indexes by agent, tool or hash have side by side. */
export function needsKeys({ agentId, sessionId, toolName, argumentsHash }: EventSearchFilters): boolean {
  if (argumentsHash !== undefined) return true;
  return sessionId === undefined && (agentId !== undefined || toolName !== undefined);
}

/** Position in a search: the event's place, or its time with {@link searchOrder} `source_ms`, and its id. */
export interface SearchPosition {
  readonly place: number;
  readonly eventId: string;
}

/** Returns the column that the events of a search are sorted by, before the id. */
export function searchOrder({ sessionId, argumentsHash }: EventSearchFilters): 'place' | 'source_ms' {
  return sessionId !== undefined && argumentsHash === undefined ? 'source_ms' : 'place';
}

/** A page of a search. */
interface FoundEvents {
  readonly rows: Selectable<EventTable>[];
  /** Position of the next page, if there is one. */
  readonly end?: SearchPosition | undefined;
  /** Source time up to which the page has looked, where it has no full page for lack of events that pass. */
  readonly searchedToMs?: number | undefined;
}

/**
 * Maximum events that one page looks at. Only a page whose filters no index has together looks at events that do not
 * pass.
 */
const maxWalkedEvents = 5000;

/** One run of entries in an index, newest first. */
interface Run {
  /** Index of SQLite. */
  readonly index: string;
  /** Events of the run, if no index has them side by side. */
  readonly from?: RawBuilder<unknown>;
  readonly conditions: readonly RawBuilder<unknown>[];
  /** Filters that every event of the run passes. */
  readonly covers: readonly (keyof EventSearchFilters)[];
  /** Column that the run is sorted by, before the id. */
  readonly order: 'place' | 'source_ms';
}

function run(
  index: string,
  covers: Run['covers'],
  conditions: Run['conditions'],
  order: Run['order'] = 'place',
): Run {
  return { index, covers, conditions, order };
}

/** Returns the runs that contain every event of the search. */
function runsOf(db: Database, search: EventSearch): readonly Run[] {
  const { agentId, sessionId, toolName, category, status, argumentsHash, among = 'indexed' } = search;
  if (typeof among === 'object') return [unsentRun(db, search, among.afterEntry)];
  const isIndexed = among === 'indexed';
  // As below, a second condition repeats a partial index's.
  const hasKeys = sql`agent_key is not null`;
  if (isIndexed && argumentsHash !== undefined) {
    const key = searchKey(argumentsHash);
    return [run('events_by_hash', ['argumentsHash'], [sql`hash_key = ${key}`, hasKeys])];
  }
  if (sessionId !== undefined && argumentsHash === undefined) {
    return [run('events_by_session', ['sessionId'], [sql`session_id = ${sessionId}`], 'source_ms')];
  }
  const runs: Run[] = [];
  // A second condition repeats a partial index's, so that the planner can use the index.
  const isProblem = status === 'error' || status === 'denied';
  const marked = isProblem ? [sql`mark = ${eventMarks[status]}`, sql`mark <> 0`] : [];
  const [suffix, covered] = isProblem ? (['_mark', ['status']] as const) : (['', []] as const);
  if (isIndexed && agentId !== undefined) {
    const conditions = [sql`agent_key = ${searchKey(agentId)}`, ...marked];
    runs.push(run(`events_by_agent${suffix}`, ['agentId', ...covered], conditions));
  }
  if (isIndexed && toolName !== undefined) {
    const conditions = [sql`tool_key = ${searchKey(toolName)}`, hasKeys, ...marked];
    runs.push(run(`events_by_tool${suffix}`, ['toolName', ...covered], conditions));
  }
  if (category !== undefined && category !== toolCallCategory) {
    const conditions = [sql`category = ${category}`, sql`category <> ${sql.lit(toolCallCategory)}`];
    runs.push(run('events_by_category', ['category'], conditions));
  }
  if (runs.length > 0) return runs;
  return isProblem ? [run('events_by_mark', ['status'], marked)] : [run('events_by_place', [], [])];
}

/** Filters by columns of events. */
const filterNames = ['agentId', 'sessionId', 'toolName', 'category', 'status', 'argumentsHash'] as const;

/** Returns the run of the events of a search that are in the log after an entry, or not in it yet. */
function unsentRun(db: Database, search: EventSearch, afterEntry: number): Run {
  const { tenantId } = search;
  const ranges = sql`
    select id, first_arrival - 1 as "from", first_arrival + entry_count - 1 as "to" from log_ranges
    where tenant_id = ${tenantId} and kind = 'event' and first_index + entry_count > ${afterEntry + 1}
      and first_index >= (select coalesce(max(first_index), 0) from log_ranges where tenant_id = ${tenantId} and first_index <= ${afterEntry + 1})
    union all
    select id, log_arrival, last_arrival from sessions
    where tenant_id = ${tenantId} and is_unlogged = 1 and log_arrival < last_arrival`;
  const from = eventsOfRanges(db, tenantId, ranges, 'events', remaining(search, { covers: [] }));
  return { ...run('events_by_session', filterNames, []), from };
}

function statusCondition(status: CallOutcome): RawBuilder<unknown> {
  return status === 'ok' ? sql`(tool_key is not null and mark = 0)` : sql`mark = ${eventMarks[status]}`;
}

/** Returns the conditions that the events of a run may fail. */
function remaining(filters: EventSearchFilters, { covers }: Pick<Run, 'covers'>): RawBuilder<unknown>[] {
  const { agentId, sessionId, toolName, category, status, argumentsHash } = filters;
  const conditions: RawBuilder<unknown>[] = [];
  const add = (name: keyof EventSearchFilters, condition: RawBuilder<unknown>) => {
    if (!covers.includes(name)) conditions.push(condition);
  };
  if (agentId !== undefined) add('agentId', sql`agent_id = ${agentId}`);
  if (sessionId !== undefined) add('sessionId', sql`session_id = ${sessionId}`);
  if (toolName !== undefined) add('toolName', sql`tool_key = ${searchKey(toolName)}`);
  if (category !== undefined) add('category', sql`category = ${category}`);
  if (status !== undefined) add('status', statusCondition(status));
  if (argumentsHash !== undefined) add('argumentsHash', sql`hash_key = ${searchKey(argumentsHash)}`);
  return conditions;
}

/** Returns the query that walks a run from the newest event, or from after a position. */
function searchRunQuery(
  db: Database,
  search: EventSearch,
  run: Run,
  columns: RawBuilder<unknown>,
  count: number,
  offset = 0,
): RawBuilder<unknown> {
  const { tenantId, after, sinceMs, untilMs } = search;
  const order = sql.ref(run.order);
  const first = run.order === 'place' ? firstPlaceAt : (ms: number) => ms;
  const conditions = [sql`tenant_id = ${tenantId}`, ...run.conditions];
  if (sinceMs !== undefined) conditions.push(sql`${order} >= ${first(sinceMs)}`);
  if (untilMs !== undefined) conditions.push(sql`${order} < ${first(untilMs)}`);
  if (after) {
    conditions.push(
      sql`${order} <= ${after.place} and (${order} < ${after.place} or event_id < ${after.eventId})`,
    );
  }
  // PostgreSQL has no such hint; it has no other index that fits as well.
  const hint = isPostgres(db) ? sql`` : sql` indexed by ${sql.ref(run.index)}`;
  return sql`
    select ${columns} from ${run.from ?? sql`events${hint}`} where ${sql.join(conditions, sql` and `)}
    order by ${order} desc, event_id desc limit ${count} offset ${offset}`;
}

/** Row of a walk: an event that passes, by its position and size. */
interface Passing {
  readonly place: number;
  readonly source_ms: number;
  readonly event_id: string;
  readonly size: number;
}

/**
 * Returns the query for the first events of a run that pass all filters, among the first `maxWalked`.
 */
export function passingQuery(
  db: Database,
  search: EventSearch,
  run: Run,
  count: number,
): RawBuilder<Passing> {
  const conditions = remaining(search, run);
  const order = sql.ref(run.order);
  const selected = sql`place, source_ms, event_id, ${bytesOf('payload')}`;
  const walked = sql`tenant_id, session_id, agent_id, category, mark, tool_key, hash_key, place, source_ms, event_id, payload`;
  // An index that has exactly the events of the search needs no more of them than the page.
  const walk = conditions.length > 0 ? maxWalkedOf(search) : count;
  const inner = searchRunQuery(db, search, run, walked, walk);
  const where = conditions.length > 0 ? sql`where ${sql.join(conditions, sql` and `)}` : sql``;
  return sql<Passing>`
    select ${selected} from (${inner}) as walked ${where} order by ${order} desc, event_id desc limit ${count}`;
}

function maxWalkedOf({ maxWalked = maxWalkedEvents, limit }: EventSearch): number {
  return Math.max(maxWalked, limit + 1);
}

/** Returns the run with the fewest entries, of those that contain every event of a search. */
export async function shortestRun(db: Database, search: EventSearch): Promise<Run> {
  const runs = runsOf(db, search);
  let shortest = runs[0] as Run;
  if (runs.length === 1) return shortest;
  let fewest = Number.POSITIVE_INFINITY;
  for (const candidate of runs) {
    const entries = searchRunQuery(db, search, candidate, sql`event_id`, maxWalkedOf(search));
    const { rows } = await sql<{
      count: number;
    }>`select count(*) as count from (${entries}) as entries`.execute(db);
    const count = Number(rows[0]?.count);
    if (count < fewest) [shortest, fewest] = [candidate, count];
  }
  return shortest;
}

/**
 * Returns a page of the events of all sessions, newest first by their source time. Its cost depends on the page alone:
 * it walks an index, and looks at no more than `maxWalked` events. A page can have fewer events than the limit, or none,
 * and yet be followed by another.
 */
export async function searchEvents(db: Database, search: EventSearch): Promise<FoundEvents> {
  const run = await shortestRun(db, search);
  const { rows: passing } = await passingQuery(db, search, run, search.limit + 1).execute(db);
  const page = passing.slice(0, countWithin(passing, search.limit));
  const found = await findEvents(
    db,
    search.tenantId,
    page.map(({ event_id: id }) => id),
  );
  const rows = page.flatMap(({ event_id: id }) => found.get(id) ?? []).filter((row) => isExact(row, search));
  if (page.length < passing.length) return { rows, end: positionOf(run, page.at(-1) as Passing) };
  if (remaining(search, run).length === 0) return { rows };
  const last = searchRunQuery(db, search, run, sql`place, source_ms, event_id`, 1, maxWalkedOf(search) - 1);
  const walkedTo = (await (last as RawBuilder<Passing>).execute(db)).rows[0];
  if (!walkedTo) return { rows };
  return { rows, end: positionOf(run, walkedTo), searchedToMs: Number(walkedTo.source_ms) };
}

function positionOf({ order }: Run, row: Passing): SearchPosition {
  return { place: Number(row[order]), eventId: row.event_id };
}

/** `true` if an event has the names of the search, and not only their keys, which two names may share. */
function isExact(
  { agent_id: agent, payload }: Selectable<EventTable>,
  { agentId, toolName, argumentsHash }: EventSearch,
): boolean {
  if (agentId !== undefined && agent !== agentId) return false;
  if (toolName === undefined && argumentsHash === undefined) return true;
  const call = JSON.parse(payload) as ToolCall;
  return (
    (toolName === undefined || call.toolName === toolName) &&
    (argumentsHash === undefined || call.argumentsHash === argumentsHash)
  );
}
