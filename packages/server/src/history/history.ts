import { randomUUID } from 'node:crypto';
import { judgedScore, storedSession } from '../risk/score-session.ts';
import type { EventReader } from '../storage/event-reader.ts';
import { type LegalHoldRow, listLegalHolds, maxLegalHolds } from '../storage/retention/legal-holds.ts';
import {
  expiredSessions,
  keptPosition,
  type Position,
  storeKeptPosition,
} from '../storage/retention/prune.ts';
import { findSessions } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { judgmentsAbout } from '../storage/stores/judgment-store.ts';
import { findSessionRisks } from '../storage/stores/risk-store.ts';
import { type Database, oneOf } from '../storage/transaction.ts';
import { ClickHouse, type HistoryAddress, type HistorySessionRow } from './click-house.ts';
import { HistoryDestination, historyName } from './history-destination.ts';
import { deletionsSince, HistoryReader } from './history-reader.ts';

const dayMs = 24 * 3_600_000;

/** Time for which the cleanup repeats deletions, in milliseconds: longer than any block can be under way. */
const repeatedForMs = 2 * dayMs;

/** Options for {@link History}. */
export interface HistoryOptions {
  readonly address: HistoryAddress;
  readonly storage: Storage;
  /** Reads the events in the database. */
  readonly stored: EventReader;
  /** Days for which events are kept after their receipt; `null` for forever, which is the default. */
  readonly days?: number | null;
}

/** The history of a deployment: all events in ClickHouse, also those that retention deletes from the database. */
export class History {
  readonly forward = historyName;
  readonly destination: HistoryDestination;
  readonly events: HistoryReader;
  readonly days: number | null;
  readonly #clickHouse: ClickHouse;
  readonly #storage: Storage;

  constructor({ address, storage, stored, days = null }: HistoryOptions) {
    this.days = days;
    this.#storage = storage;
    this.#clickHouse = new ClickHouse({ address, deployment: () => deploymentId(storage) });
    this.destination = new HistoryDestination(this.#clickHouse);
    this.events = new HistoryReader({ clickHouse: this.#clickHouse, storage, stored });
  }

  /**
   * Copies sessions that are past retention, with their risk, which the database deletes with them.
   *
   * @throws ForwardError when ClickHouse has not confirmed it
   */
  async keepSessions(tenantId: number, keptFromMs: number, signal?: AbortSignal): Promise<void> {
    while (!signal?.aborted) {
      const page = await this.#storage.read(tenantId, (db) => sessionsToKeep(db, tenantId, keptFromMs));
      if (!page) return;
      await this.#clickHouse.insertSessions(page.rows);
      await this.#storage.write(tenantId, ({ db }) => storeKeptPosition(db, tenantId, page.last));
    }
  }

  /** Deletes the events of a deleted tenant. @throws ForwardError when ClickHouse has not confirmed it */
  deleteTenant(tenantId: number): Promise<void> {
    return this.#clickHouse.erase('tenant_id = {tenant:UInt64}', { tenant: tenantId });
  }

  /**
   * Repeats recent deletions, for a block that arrived late; removes deleted events from the disk; and deletes the weeks
   * that are past retention. Events under a legal hold stay.
   *
   * @throws ForwardError
   */
  async clean(nowMs: number, signal?: AbortSignal): Promise<void> {
    const { days } = this;
    const tenantIds = await this.#storage.readAcross('sweep', tenantsOf);
    for (const tenantId of tenantIds) {
      if (signal?.aborted) return;
      const deletions = await this.#storage.read(tenantId, (db) =>
        deletionsSince(db, tenantId, nowMs - repeatedForMs),
      );
      for (const ranges of deletions) await this.#clickHouse.eraseEntries(tenantId, ranges);
    }
    await this.#clickHouse.applyDeletions();
    if (days === null) return;
    const expired = (await this.#clickHouse.partitions()).filter(
      (week) => Date.parse(week) + 7 * dayMs + days * dayMs <= nowMs,
    );
    if (expired.length === 0) return;
    const held = await this.#held(tenantIds);
    for (const week of expired) {
      if (signal?.aborted) return;
      await this.#deleteWeek(week, held);
    }
  }

  close(): Promise<void> {
    return this.#clickHouse.close();
  }

  async #deleteWeek(week: string, held: readonly string[]): Promise<void> {
    // From the name of a partition, a date.
    const ofWeek = `_partition_id = '${week.replaceAll('-', '')}'`;
    const isHeld = held.join(' or ');
    const [kept] =
      held.length === 0
        ? []
        : await this.#clickHouse.rows(`select 1 from {events} where ${ofWeek} and (${isHeld}) limit 1`);
    if (kept) await this.#clickHouse.erase(`${ofWeek} and not (${isHeld})`);
    else await this.#clickHouse.dropPartition(week);
  }

  /** Returns conditions for the events under legal holds. A hold of a part of a session covers all of it. */
  async #held(tenantIds: readonly number[]): Promise<string[]> {
    const conditions: string[] = [];
    for (const tenantId of tenantIds) {
      const holds = await this.#storage.read(tenantId, (db) =>
        listLegalHolds(db, tenantId, { isActive: true, limit: maxLegalHolds }),
      );
      if (holds.length === 0) continue;
      const ofHolds = holds.map((hold) => `(${holdCondition(hold)})`).join(' or ');
      conditions.push(
        `(tenant_id = ${tenantId} and session_id in (
          select session_id from {events} where tenant_id = ${tenantId} group by session_id having ${ofHolds}))`,
      );
    }
    return conditions;
  }
}

/** Returns the condition for sessions that a legal hold covers. */
function holdCondition({
  session_id: session,
  agent_id: agent,
  since_ms: since,
  until_ms: until,
}: LegalHoldRow) {
  const conditions = ['true'];
  if (session !== null) conditions.push(`session_id = ${literal(session)}`);
  if (agent !== null) conditions.push(`countIf(agent_id = ${literal(agent)}) > 0`);
  if (since !== null) conditions.push(`max(greatest(source_ms, received_ms)) >= ${Number(since)}`);
  if (until !== null) conditions.push(`min(least(source_ms, received_ms)) < ${Number(until)}`);
  return conditions.join(' and ');
}

/** Rows of the sessions, with their events, that one block copies: some hundred sessions, whose risks fit into the memory. */
const keptRows = 10_000;

/** Returns the next sessions to copy as rows; `undefined` if all are copied. */
async function sessionsToKeep(
  db: Database,
  tenantId: number,
  keptFromMs: number,
): Promise<{ readonly rows: HistorySessionRow[]; readonly last: Position } | undefined> {
  const after = await keptPosition(db, tenantId);
  const expired = await expiredSessions(db, { tenantId, keptFromMs, after, rows: keptRows });
  const newest = await newestEntries(
    db,
    tenantId,
    expired.map(({ id }) => id),
  );
  // Without an entry of it, a session could not be erased. Those after it wait until it is logged.
  const unlogged = expired.findIndex(({ id }) => !newest.has(id));
  const found = unlogged < 0 ? expired : expired.slice(0, unlogged);
  const last = found.at(-1);
  if (!last) return undefined;
  const ids = found.map(({ id }) => id);
  const summaries = [...(await findSessions(db, tenantId, ids)).values()];
  const risks = await findSessionRisks(db, tenantId, ids);
  const judgments = await judgmentsAbout(db, tenantId, summaries);
  const rows = summaries.map((summary) => {
    const { id } = summary;
    const result = judgedScore(storedSession(summary, risks.get(id)), judgments);
    return {
      tenant_id: tenantId,
      started_ms: summary.started_ms,
      session_id: id,
      agent_id: summary.agent_id,
      agent_ids: summary.agentIds,
      tool_names: summary.toolNames,
      last_event_ms: summary.last_event_ms,
      received_ms: summary.received_ms,
      event_count: summary.event_count,
      error_count: summary.error_count,
      risk_score: summary.risk_score ?? -1,
      risk_level: summary.risk_level ?? '',
      risk: JSON.stringify({ sessionId: id, ...result }),
      statuses: [
        ...(summary.has_errors === 1 ? ['errors'] : []),
        ...(summary.has_denials === 1 ? ['denied'] : []),
        ...(summary.has_holds === 1 ? ['held'] : []),
      ],
      log_index: newest.get(id) as number,
    };
  });
  return { rows, last: { atMs: last.received_ms, id: last.id } };
}

/** Returns the newest entries of sessions in the log, by session. */
async function newestEntries(
  db: Database,
  tenantId: number,
  ids: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await db
    .selectFrom('log_ranges')
    .select(['id', ({ fn }) => fn.max<number>('first_index').as('newest')])
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'event')
    .where(oneOf(db, 'id', JSON.stringify(ids)))
    .groupBy('id')
    .execute();
  return new Map(rows.map(({ id, newest }) => [id, Number(newest)]));
}

/** Returns a string of SQL. */
function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

async function tenantsOf(db: Database): Promise<number[]> {
  const rows = await db
    .selectFrom('tenants')
    .select('id')
    .where('deleted_ms', 'is', null)
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

/** Name of the row with that id. */
const rowName = 'history';

/** Returns the random id by which the table in ClickHouse belongs to this database. */
async function deploymentId(storage: Storage): Promise<string> {
  return storage.writeAcross('administer', async ({ db }) => {
    await db
      .insertInto('deployment')
      .values({ name: rowName, value: randomUUID() })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    const row = await db
      .selectFrom('deployment')
      .select('value')
      .where('name', '=', rowName)
      .executeTakeFirstOrThrow();
    return row.value;
  });
}
