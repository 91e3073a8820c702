import { type AliasedRawBuilder, type RawBuilder, type Selectable, sql } from 'kysely';
import type { SessionTable } from '../schema.ts';
import { bytesOf, countWithin, querySliceWithin, type Slice, sliceWithin } from '../slices.ts';
import { type Database, isPostgres } from '../transaction.ts';
import { findSessions, largeSessionColumns, type SessionSummary, sessionSummary } from './session-store.ts';
import {
  containsText,
  passingSessions,
  type SessionListOptions,
  type SessionPlace,
  walkSessions,
} from './session-walk.ts';

/**
 * Returns a slice of sessions, newest first unless the options say otherwise. It has fewer than `limit` rows when they
 * are large, or when few of the sessions that one request may read pass the filters.
 */
export async function listSessions(db: Database, options: SessionListOptions): Promise<SessionSlice> {
  if (isSearch(options)) return searchSessions(db, options);
  const { rows, hasMore } = await sessionRows(db, options);
  return { rows: rows.map(sessionSummary), hasMore };
}

/** `true` if no index has exactly the sessions of the list in its order. */
function isSearch(options: SessionListOptions): boolean {
  const { sort, agentIdContains, idContains, toolName, level, status, assigneeKey } = options;
  return (
    sort === 'riskScore' ||
    [agentIdContains, idContains, toolName, level, status, assigneeKey].some((filter) => filter !== undefined)
  );
}

function sessionRows(db: Database, options: SessionListOptions): Promise<Slice<Selectable<SessionTable>>> {
  const { agentId, minRiskScore, limit } = options;
  if (minRiskScore !== undefined && minRiskScore >= lowestIndexedScore) {
    const slice = (count: number) => ({ ...options, minRiskScore, limit: count });
    return sliceWithin(limit, {
      async sizes(count) {
        const sizes = riskySessions<{ size: number }>(db, slice(count), bytesOf(...largeSessionColumns));
        return (await sizes.execute(db)).rows;
      },
      async rows(count) {
        const rows = riskySessions<Selectable<SessionTable>>(db, slice(count), sql`sessions.*`);
        return (await rows.execute(db)).rows;
      },
    });
  }
  const query = agentId === undefined ? ofTenant(db, options) : ofAgent(db, options, agentId);
  return querySliceWithin(limit, largeSessionColumns, query);
}

function ofTenant(db: Database, options: SessionListOptions) {
  const { after, startedAfterMs, startedBeforeMs, minRiskScore } = options;
  let query = db.selectFrom('sessions').selectAll().where('tenant_id', '=', options.tenantId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('started_ms', 'id'), '<', tuple(after.startedMs, after.id)),
    );
  }
  if (startedAfterMs !== undefined) query = query.where('started_ms', '>', startedAfterMs);
  if (startedBeforeMs !== undefined) query = query.where('started_ms', '<', startedBeforeMs);
  if (minRiskScore !== undefined) query = query.where('risk_score', '>=', minRiskScore);
  return query.orderBy('started_ms', 'desc').orderBy('id', 'desc');
}

function ofAgent(db: Database, options: SessionListOptions, agentId: string) {
  const { after, startedAfterMs, startedBeforeMs, minRiskScore } = options;
  let query = db
    .selectFrom('session_agents as acted')
    .innerJoin('sessions', (join) =>
      join.onRef('sessions.tenant_id', '=', 'acted.tenant_id').onRef('sessions.id', '=', 'acted.session_id'),
    )
    .selectAll('sessions')
    .where('acted.tenant_id', '=', options.tenantId)
    .where('acted.agent_id', '=', agentId);
  if (after) {
    query = query.where(({ eb, refTuple, tuple }) =>
      eb(refTuple('acted.started_ms', 'acted.session_id'), '<', tuple(after.startedMs, after.id)),
    );
  }
  if (startedAfterMs !== undefined) query = query.where('acted.started_ms', '>', startedAfterMs);
  if (startedBeforeMs !== undefined) query = query.where('acted.started_ms', '<', startedBeforeMs);
  if (minRiskScore !== undefined) query = query.where('sessions.risk_score', '>=', minRiskScore);
  return query.orderBy('acted.started_ms', 'desc').orderBy('acted.session_id', 'desc');
}

/** Highest score of the risk engine. */
const highestScore = 100;

/** Lowest `minRiskScore` for which the indexes by risk contain every session. */
const lowestIndexedScore = 1;

/**
 * Selects sessions that reach a score, newest first. The index has one run of entries for each whole score, in the
 * order of the list. At most one page is read from each run, so the query is fast whether few or nearly all sessions
 * match.
 *
 * @param columns - the columns of `sessions` to select
 */
export function riskySessions<Row>(
  db: Database,
  options: SessionListOptions & { readonly minRiskScore: number },
  columns: RawBuilder<unknown> | AliasedRawBuilder<unknown, string>,
): RawBuilder<Row> {
  const { tenantId, minRiskScore, limit } = options;
  const lowest = Math.floor(minRiskScore);
  const runOfBand = runQuery(options);
  const bands = Array.from({ length: highestScore - lowest + 1 }, (_, index) => lowest + index);
  // SQLite has no lateral join, and PostgreSQL would plan each of a hundred subqueries.
  const places = isPostgres(db)
    ? sql`select run.* from generate_series(${lowest}::integer, ${sql.lit(highestScore)}) as band
        cross join lateral (${runOfBand(sql.ref('band'))}) as run`
    : sql.join(
        bands.map((band) => sql`select * from (${runOfBand(sql.lit(band))})`),
        sql` union all `,
      );
  return sql`
    select ${columns} from (
      select started_ms, id from (${places}) as runs order by started_ms desc, id desc limit ${limit}
    ) as place
    join sessions on sessions.tenant_id = ${tenantId} and sessions.id = place.id
    order by place.started_ms desc, place.id desc
  `;
}

/** Returns the query for the run of one whole score. */
function runQuery(
  options: SessionListOptions & { readonly minRiskScore: number },
): (band: RawBuilder<unknown>) => RawBuilder<unknown> {
  const { tenantId, agentId, after, startedAfterMs, startedBeforeMs, minRiskScore, limit } = options;
  const [table, idColumn] = agentId === undefined ? ['sessions', 'id'] : ['session_agents', 'session_id'];
  const id = sql.ref(idColumn as string);
  const conditions = [sql`tenant_id = ${tenantId}`];
  if (agentId !== undefined) conditions.push(sql`agent_id = ${agentId}`);
  if (after) conditions.push(sql`(started_ms, ${id}) < (${after.startedMs}, ${after.id})`);
  if (startedAfterMs !== undefined) conditions.push(sql`started_ms > ${startedAfterMs}`);
  if (startedBeforeMs !== undefined) conditions.push(sql`started_ms < ${startedBeforeMs}`);
  if (!Number.isInteger(minRiskScore)) conditions.push(sql`risk_score >= ${minRiskScore}`);
  const where = sql.join(conditions, sql` and `);
  // `risk_band > 0` repeats the condition of the partial index, so that the planner can use the index.
  return (band) => sql`
    select started_ms, ${id} as id from ${sql.table(table as string)}
    where ${where} and risk_band = ${band} and risk_band > 0
    order by started_ms desc, ${id} desc limit ${limit}
  `;
}

/**
 * Maximum index entries that one request reads. A list whose filters few sessions pass ends its page there, maybe
 * without a session, and continues on the next page. Few enough that other requests wait for some milliseconds only: on
 * SQLite, reads share a thread.
 */
export const maxWalkedSessions = 2000;

/** Factor by which each step reads more entries than the one before. */
const growth = 4;

/** A slice of a list of sessions, and the place after which the next one starts. */
interface SessionSlice extends Slice<SessionSummary> {
  /** Set unless the next slice starts after the last row. */
  readonly end?: SessionPlace | undefined;
}

interface Found {
  readonly place: SessionPlace;
  readonly size: number;
}

/**
 * Lists sessions by filters or an order that no single index serves: it reads an index in the order of the list, and
 * looks up the sessions of its entries. The number of entries is bounded, so a request costs the same in a list of a
 * million sessions as in a list of ten thousand.
 */
async function searchSessions(db: Database, options: SessionListOptions): Promise<SessionSlice> {
  const { limit, idContains } = options;
  const found: Found[] = [];
  let at = options.after;
  let isEnd = false;
  let walked = 0;
  for (let step = limit + 1; found.length <= limit && walked < maxWalkedSessions && !isEnd; step *= growth) {
    const count = Math.min(step, maxWalkedSessions - walked);
    const places = await walkSessions(db, options, at, count);
    const candidates =
      idContains === undefined ? places : places.filter(({ id }) => containsText(id, idContains));
    const sizes = await passingSessions(
      db,
      options,
      candidates.map(({ id }) => id),
    );
    for (const place of candidates) {
      const size = sizes.get(place.id);
      if (size !== undefined) found.push({ place, size });
    }
    walked += places.length;
    isEnd = places.length < count;
    at = places.at(-1) ?? at;
  }
  const page = found.slice(0, countWithin(found, limit));
  const isCut = page.length < found.length;
  const summaries = await findSessions(
    db,
    options.tenantId,
    page.map(({ place }) => place.id),
  );
  const rows = page.flatMap(({ place }) => summaries.get(place.id) ?? []);
  return { rows, hasMore: isCut || !isEnd, end: isCut ? page.at(-1)?.place : at };
}

/** Columns of a session among the riskiest. */
export type RiskiestSession = Pick<
  Selectable<SessionTable>,
  | 'id'
  | 'agent_id'
  | 'started_ms'
  | 'last_event_ms'
  | 'event_count'
  | 'error_count'
  | 'risk_score'
  | 'risk_level'
  | 'tool_names'
>;

/** Sessions that started within a span of time. */
interface StartedSessions {
  readonly tenantId: number;
  readonly sinceMs: number;
  readonly untilMs: number;
  /** `true` if handled sessions are among them. */
  readonly withHandled: boolean;
  readonly limit: number;
}

/**
 * Returns the sessions with the highest scores, of those that score at least 1, highest first. It reads at most one
 * page of each whole score from the index of sessions by risk, so its cost does not depend on the number of sessions that
 * nobody handled.
 */
export async function riskiestSessions(
  db: Database,
  { tenantId, sinceMs, untilMs, withHandled, limit }: StartedSessions,
): Promise<RiskiestSession[]> {
  const isOpen = withHandled
    ? sql``
    : sql`and not exists (
        select 1 from handled_sessions as handled
        where handled.tenant_id = ${tenantId} and handled.session_id = sessions.id
          and handled.score >= sessions.risk_band
      )`;
  // `risk_band > 0` repeats the condition of the partial index, so that the planner can use the index.
  const runOf = (band: ReturnType<typeof sql>) => sql`
    select id, risk_score, started_ms from sessions
    where tenant_id = ${tenantId} and risk_band = ${band} and risk_band > 0
      and started_ms >= ${sinceMs} and started_ms < ${untilMs} ${isOpen}
    order by started_ms desc, id desc limit ${limit}`;
  const bands = Array.from({ length: highestScore }, (_, index) => index + 1);
  // SQLite has no lateral join, and PostgreSQL would plan each of a hundred subqueries.
  const runs = isPostgres(db)
    ? sql`select run.* from generate_series(1, ${sql.lit(highestScore)}) as band
        cross join lateral (${runOf(sql.ref('band'))}) as run`
    : sql.join(
        bands.map((band) => sql`select * from (${runOf(sql.lit(band))})`),
        sql` union all `,
      );
  const { rows } = await sql<RiskiestSession>`
    select sessions.id, agent_id, sessions.started_ms, last_event_ms, event_count, error_count,
      sessions.risk_score, risk_level, tool_names
    from (select id from (${runs}) as run order by risk_score desc, started_ms desc, id desc limit ${limit}) as place
    join sessions on sessions.tenant_id = ${tenantId} and sessions.id = place.id
    order by sessions.risk_score desc, sessions.started_ms desc, sessions.id desc
  `.execute(db);
  return rows;
}
