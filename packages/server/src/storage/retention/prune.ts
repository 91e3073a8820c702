import { setTimeout } from 'node:timers/promises';
import { isoTime } from '../../lib/iso-time.ts';
import { repeat } from '../../lib/repeat.ts';
import { beginDeletion, type DeletionReason, lockLog } from '../log/tenant-log.ts';
import {
  type DroppableDecision,
  decisionsBefore,
  dropDecisions,
  finalMs,
} from '../policies/policy-decision-store.ts';
import { receivedBefore, receivedMinute } from '../sessions/session-store.ts';
import type { Storage } from '../storage.ts';
import { auditEntriesBefore, dropAuditEntries } from '../stores/audit-store.ts';
import { agePrecisionMs } from '../stores/call-history-store.ts';
import { oldDeliveries } from '../stores/delivery-store.ts';
import { isKept } from '../stores/event-log.ts';
import { forwardPosition } from '../stores/forward-store.ts';
import {
  actionsBefore,
  type DroppableAction,
  dropPendingActions,
  endedMs,
} from '../stores/pending-action-store.ts';
import { type Database, oneOf } from '../transaction.ts';
import { dropOldest, dropRestOfSessions, dropSessions } from './drop-rows.ts';
import { type ActiveHolds, activeHolds, type HoldableRecord } from './legal-holds.ts';
import { daysKept, keptFrom, type RetentionClass, retentionPolicy } from './retention.ts';

/** Rows that a session has beside its events, about: itself, its agents and tools, its risk. */
const rowsOfSession = 10;

/** Rows that the first transaction of a cleanup deletes, and the fewest and most that a later one does. */
const rowsAtOnce = { first: 1000, min: 200, max: 20_000 } as const;

/**
 * Time that a transaction should take with its commit, in milliseconds, which on SQLite is half of it: other transactions
 * wait for its end there, and for its locks on PostgreSQL.
 */
const targetMs = { sqlite: 40, postgres: 250 } as const;

/** Rest after a transaction on SQLite, in times of what it took: a deletion takes a fifth of the writer's time. */
const restFactor = 4;

/** Longest rest, in milliseconds. */
const maxRestMs = 1000;

/**
 * Runs the transactions of a deletion. The number of rows that the next one deletes follows the time that the last one
 * took, because what a row costs depends on the database. SQLite has one writer, which would give events and checks one
 * turn for each transaction of the deletion, so the deletion rests after each of them.
 */
export class DeletionPace {
  readonly #storage: Storage;
  readonly #signal: AbortSignal | undefined;
  #rows: number = rowsAtOnce.first;
  #restUntilMs = 0;

  /** @param signal - ends a rest when aborted */
  constructor(storage: Storage, signal?: AbortSignal) {
    this.#storage = storage;
    this.#signal = signal;
  }

  /** Number of rows that the next transaction should delete. */
  get rows(): number {
    return this.#rows;
  }

  /** Runs work in one transaction of a tenant, as `Storage.write`. */
  write<Result>(tenantId: number, work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#run((begin) =>
      this.#storage.write(tenantId, ({ db }) => {
        begin();
        return work(db);
      }),
    );
  }

  /** Runs work across tenants in one transaction. */
  sweep<Result>(work: (db: Database) => Promise<Result>): Promise<Result> {
    return this.#run((begin) =>
      this.#storage.writeAcross('sweep', ({ db }) => {
        begin();
        return work(db);
      }),
    );
  }

  async #run<Result>(transaction: (begin: () => void) => Promise<Result>): Promise<Result> {
    await this.#rest();
    // Without the time for which it waits for others.
    let startedMs = performance.now();
    const result = await transaction(() => {
      startedMs = performance.now();
    });
    const endedMs = performance.now();
    const tookMs = endedMs - startedMs;
    const { isShared } = this.#storage;
    const factor = Math.min(2, (isShared ? targetMs.postgres : targetMs.sqlite) / tookMs);
    this.#rows = Math.min(rowsAtOnce.max, Math.max(rowsAtOnce.min, Math.floor(this.#rows * factor)));
    if (!isShared) this.#restUntilMs = endedMs + Math.min(maxRestMs, tookMs * restFactor);
    return result;
  }

  async #rest(): Promise<void> {
    const restMs = this.#restUntilMs - performance.now();
    if (restMs <= 0) return;
    await setTimeout(restMs, undefined, { ...(this.#signal && { signal: this.#signal }) }).catch(
      (error: unknown) => {
        if (!this.#signal?.aborted) throw error;
      },
    );
  }
}

/** Deletes what is left of a tenant's long sessions that were deleted. */
export function dropRest(pace: DeletionPace, tenantId: number, signal?: AbortSignal): Promise<void> {
  return repeat(() => pace.write(tenantId, (db) => dropRestOfSessions(db, tenantId, pace.rows)), signal);
}

/** Maximum rows, other than sessions with their events, that one transaction deletes. */
const maxRows = 1000;

/** Place in the order in which a step of the cleanup reads rows. */
export interface Position {
  readonly atMs: number;
  readonly id: string;
}

const start: Position = { atMs: 0, id: '' };

/** A row that a step of the cleanup has found. */
interface Candidate extends HoldableRecord, Position {
  /** `false` if it is not past retention after all, as a decision whose action was held until later. */
  readonly isDue: boolean;
}

/** A part of the cleanup: rows of one table with their class of retention. */
export interface PruneStep {
  readonly name: string;
  readonly retention: RetentionClass;
  /**
   * Returns the oldest rows after a position that were created before a time, up to a limit, which counts the rows that are
   * deleted with them. An index must find them.
   */
  page(
    db: Database,
    tenantId: number,
    page: {
      readonly after: Position;
      readonly beforeMs: number;
      readonly limit: number;
      readonly keptByWorkFromMs?: number | undefined;
    },
    holds: ActiveHolds | undefined,
  ): Promise<Candidate[]>;
  /** Deletes rows, and returns their number. */
  drop(db: Database, tenantId: number, ids: readonly string[], dropping: Dropping): Promise<number>;
}

interface Dropping {
  readonly reason: DeletionReason;
  readonly beforeMs: number;
  readonly nowMs: number;
}

/** Sessions with their events. */
export const sessionStep: PruneStep = {
  name: 'sessions',
  retention: 'sessions',
  async page(db, tenantId, { after, beforeMs, limit, keptByWorkFromMs }, holds) {
    const expired = { tenantId, keptFromMs: beforeMs, keptByWorkFromMs, after, rows: limit };
    const sessions = await expiredSessions(db, expired);
    const ids = sessions.map(({ id }) => id);
    // The agents' clocks may differ from the server's.
    const firstMs = holds?.hasPeriod ? await firstReceipts(db, tenantId, ids) : undefined;
    return sessions.map(({ id, ...session }) => ({
      atMs: session.received_ms,
      id,
      sessionId: id,
      agentIds: undefined,
      fromMs: Math.min(session.started_ms, firstMs?.get(id) ?? session.received_ms),
      toMs: Math.max(session.last_event_ms, session.received_ms),
      isDue: true,
    }));
  },
  drop: (db, tenantId, ids, { reason, beforeMs, nowMs }) =>
    dropSessions(db, tenantId, ids, nowMs, {
      shouldDrop: (session) => session.received_ms < beforeMs,
      reason,
    }),
};

/** Histories of sessions that conditions of policies read. */
const historyStep: PruneStep = {
  name: 'histories',
  retention: 'sessions',
  async page(db, tenantId, { after, beforeMs, limit }) {
    const rows = await db
      .selectFrom('call_histories')
      .select(['session_id', 'updated_ms'])
      .where('tenant_id', '=', tenantId)
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('updated_ms', 'session_id'), '>', tuple(after.atMs, after.id)),
      )
      .where('updated_ms', '<', beforeMs - agePrecisionMs)
      .orderBy('updated_ms')
      .orderBy('session_id')
      .limit(limit)
      .execute();
    return rows.map(({ session_id: id, updated_ms: atMs }) => ({
      atMs,
      id,
      sessionId: id,
      agentIds: undefined,
      // Only the time of its last call is known.
      fromMs: 0,
      toMs: atMs + agePrecisionMs,
      isDue: true,
    }));
  },
  async drop(db, tenantId, ids, { beforeMs }) {
    const { numDeletedRows } = await db
      .deleteFrom('call_histories')
      .where('tenant_id', '=', tenantId)
      .where(oneOf(db, 'session_id', JSON.stringify(ids)))
      .where('updated_ms', '<', beforeMs - agePrecisionMs)
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  },
};

const decisionStep: PruneStep = {
  name: 'decisions',
  retention: 'decisions',
  async page(db, tenantId, { after, beforeMs, limit }) {
    const rows = await decisionsBefore(db, tenantId, { afterId: after.id, beforeMs, limit });
    return rows.map((row) => ({
      ...holdableDecision(row),
      atMs: 0,
      id: row.id,
      isDue: (finalMs(row) ?? Number.POSITIVE_INFINITY) < beforeMs,
    }));
  },
  async drop(db, tenantId, ids, { nowMs, reason }) {
    await dropDecisions(db, tenantId, ids, nowMs, reason);
    return ids.length;
  },
};

const approvalStep: PruneStep = {
  name: 'approvals',
  retention: 'approvals',
  async page(db, tenantId, { after, beforeMs, limit }) {
    const rows = await actionsBefore(db, tenantId, { after, beforeMs, limit });
    return rows.map((row) => ({
      ...holdableAction(row),
      atMs: Number(row.created_ms),
      id: row.id,
      isDue: (endedMs(row) ?? Number.POSITIVE_INFINITY) < beforeMs,
    }));
  },
  async drop(db, tenantId, ids, { reason }) {
    await dropPendingActions(db, tenantId, ids, reason);
    return ids.length;
  },
};

const grantStep: PruneStep = {
  name: 'grants',
  retention: 'approvals',
  async page(db, tenantId, { after, beforeMs, limit }) {
    const rows = await db
      .selectFrom('approval_grants')
      .select(['id', 'session_id', 'agent_id', 'created_ms', 'expires_ms'])
      .where('tenant_id', '=', tenantId)
      .where(({ eb, refTuple, tuple }) => eb(refTuple('expires_ms', 'id'), '>', tuple(after.atMs, after.id)))
      .where('expires_ms', '<', beforeMs)
      .orderBy('expires_ms')
      .orderBy('id')
      .limit(limit)
      .execute();
    return rows.map((row) => ({
      atMs: row.expires_ms,
      id: row.id,
      sessionId: row.session_id,
      agentIds: [row.agent_id],
      fromMs: row.created_ms,
      toMs: row.expires_ms,
      isDue: true,
    }));
  },
  async drop(db, tenantId, ids) {
    const { numDeletedRows } = await db
      .deleteFrom('approval_grants')
      .where('tenant_id', '=', tenantId)
      .where(oneOf(db, 'id', JSON.stringify(ids)))
      .executeTakeFirstOrThrow();
    return Number(numDeletedRows);
  },
};

const auditStep: PruneStep = {
  name: 'audit',
  retention: 'audit',
  async page(db, tenantId, { after, beforeMs, limit }) {
    const rows = await auditEntriesBefore(db, tenantId, { afterId: after.id, beforeMs, limit });
    return rows.map(({ id, at_ms: at }) => ({
      atMs: 0,
      id,
      sessionId: null,
      agentIds: undefined,
      fromMs: at,
      toMs: at,
      isAudit: true,
      isDue: true,
    }));
  },
  async drop(db, tenantId, ids, { nowMs, reason }) {
    await dropAuditEntries(db, tenantId, ids, nowMs, reason);
    return ids.length;
  },
};

/** The parts of the cleanup that retention decides on, besides the sessions. */
export const otherSteps: readonly PruneStep[] = [
  approvalStep,
  historyStep,
  grantStep,
  decisionStep,
  auditStep,
];

/** Returns a decision as a legal hold looks at it. */
export function holdableDecision(row: DroppableDecision): HoldableRecord {
  return {
    sessionId: row.session_id,
    agentIds: [row.agent_id, ...parentsOf(row.parent_agents)],
    fromMs: Number(row.decided_ms),
    toMs: finalMs(row) ?? Number.POSITIVE_INFINITY,
  };
}

/** Returns a held action as a legal hold looks at it. */
export function holdableAction(row: DroppableAction): HoldableRecord {
  return {
    sessionId: row.session_id,
    agentIds: [row.agent_id, ...parentsOf(row.parent_agents)],
    fromMs: Number(row.created_ms),
    toMs: endedMs(row) ?? Number.POSITIVE_INFINITY,
  };
}

function parentsOf(json: string | null): readonly string[] {
  return json === null ? [] : (JSON.parse(json) as string[]);
}

/** Sessions to delete. */
export interface ExpiredSessions {
  readonly tenantId: number;
  /** Time of the newest event from which sessions are kept. */
  readonly keptFromMs: number;
  /**
   * Time of the newest event from which sessions are kept that people worked on: with an assignee, comments, or marked as
   * handled. Default: such sessions are as others.
   */
  readonly keptByWorkFromMs?: number | undefined;
  /** Session after which they begin. Default: the oldest. */
  readonly after?: Position;
  /** Maximum rows of the sessions together. */
  readonly rows: number;
}

/**
 * Returns a tenant's sessions that are past retention, oldest first, with at most `rows` rows together. It returns at
 * least one session if there is any, whatever its number of events, because a session is deleted as a whole.
 */
export async function expiredSessions(
  db: Database,
  { tenantId, keptFromMs, keptByWorkFromMs, after = start, rows }: ExpiredSessions,
) {
  let query = db
    .selectFrom('sessions')
    .select(['id', 'event_count', 'started_ms', 'last_event_ms', 'received_ms'])
    .where('tenant_id', '=', tenantId)
    .where(({ eb, refTuple, tuple }) => eb(refTuple('received_ms', 'id'), '>', tuple(after.atMs, after.id)))
    .where('received_minute', '>=', receivedMinute(after.atMs))
    .where(receivedBefore(keptFromMs));
  if (keptByWorkFromMs !== undefined) {
    query = query.where((eb) =>
      eb.or([
        eb('received_ms', '<', keptByWorkFromMs),
        eb.and([
          eb('assignee_key', 'is', null),
          ...(['session_notes', 'handled_sessions'] as const).map((table) =>
            eb.not(
              eb.exists(
                eb
                  .selectFrom(table)
                  .select('session_id')
                  .where('tenant_id', '=', tenantId)
                  .whereRef('session_id', '=', 'sessions.id'),
              ),
            ),
          ),
        ]),
      ]),
    );
  }
  const sessions = await query
    .orderBy('received_minute')
    .orderBy('received_ms')
    .orderBy('id')
    .limit(Math.ceil(rows / (rowsOfSession + 1)))
    .execute();
  let sum = 0;
  return sessions.filter(({ event_count: events }, index) => {
    sum += rowsOfSession + events;
    return index === 0 || sum <= rows;
  });
}

/** Returns the time at which the first event of each session was received. */
export async function firstReceipts(
  db: Database,
  tenantId: number,
  sessionIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('sessions')
    .select(({ selectFrom }) => [
      'sessions.id',
      selectFrom('events')
        .select('events.received_ms')
        .where('events.tenant_id', '=', tenantId)
        .whereRef('events.session_id', '=', 'sessions.id')
        .where(isKept)
        .orderBy('events.arrival')
        .limit(1)
        .as('first_ms'),
    ])
    .where('sessions.tenant_id', '=', tenantId)
    .where(oneOf(db, 'sessions.id', JSON.stringify(sessionIds)))
    .execute();
  return new Map(rows.flatMap(({ id, first_ms: ms }) => (ms === null ? [] : [[id, Number(ms)]])));
}

/** Result of one transaction of the cleanup. */
export interface Pruned {
  /** Number of rows deleted. */
  readonly count: number;
  /** Position after which the next transaction continues; `undefined` if there are no more rows. */
  readonly next: PrunePosition | undefined;
}

/** Position of a run of the cleanup. */
export interface PrunePosition extends Position {
  /** Last row before it that no later run needs to read again until a legal hold is released. */
  readonly passed: Position | undefined;
  /** `true` if a row after `passed` is not past retention yet, so that a later run must begin before it. */
  readonly isBlocked: boolean;
}

/** History of a deployment, as a step of the cleanup uses it. */
export interface PruneHistory {
  /** Name of the forwarder that must have sent all events of a session before it is deleted. */
  readonly forward: string;
  /** Days for which the history keeps events, and the database the sessions that people worked on; `null` for forever. */
  readonly days: number | null;
}

function keptByWorkFrom(history: PruneHistory | undefined, nowMs: number): number | undefined {
  if (!history) return undefined;
  return history.days === null ? 0 : nowMs - history.days * dayMs;
}

const dayMs = 24 * 3_600_000;

/** Returns `true` if a step has rows of a tenant to look at. */
export async function hasExpired(
  db: Database,
  tenantId: number,
  step: PruneStep,
  nowMs: number,
  after?: Position,
  history?: PruneHistory,
): Promise<boolean> {
  const beforeMs = keptFrom(await retentionPolicy(db, tenantId), step.retention, nowMs);
  if (beforeMs === undefined) return false;
  const from = after ?? (await storedPosition(db, tenantId, step)) ?? start;
  const page = { after: from, beforeMs, limit: 1, keptByWorkFromMs: keptByWorkFrom(history, nowMs) };
  return (await step.page(db, tenantId, page, undefined)).length > 0;
}

/**
 * Deletes some rows that are past retention and under no legal hold, in one transaction. Rows under a hold are passed, and
 * the position behind them is stored, so that later runs do not read them again.
 *
 * @param after - where the transaction before ended; `undefined` for the first one of a run
 * @param options.limit - maximum rows, those that are deleted with others included; default: 1,000
 * @param options.history - must have a session with all its events before it is deleted
 */
export async function pruneSome(
  db: Database,
  tenantId: number,
  step: PruneStep,
  nowMs: number,
  after?: PrunePosition,
  { limit = maxRows, history }: { readonly limit?: number; readonly history?: PruneHistory | undefined } = {},
): Promise<Pruned> {
  // First, so that neither a hold nor another deletion is placed in between.
  await lockLog(db, tenantId);
  const policy = await retentionPolicy(db, tenantId);
  const beforeMs = keptFrom(policy, step.retention, nowMs);
  if (beforeMs === undefined) return { count: 0, next: undefined };
  const holds = await activeHolds(db, tenantId);
  const stored = after ? undefined : await storedPosition(db, tenantId, step);
  const from: PrunePosition = after ?? { ...(stored ?? start), passed: stored, isBlocked: false };
  const most = step === sessionStep ? limit : Math.min(limit, maxRows);
  const page = { after: from, beforeMs, limit: most, keptByWorkFromMs: keptByWorkFrom(history, nowMs) };
  const candidates = await step.page(db, tenantId, page, holds);
  const last = candidates.at(-1);
  if (!last) return { count: 0, next: undefined };
  const held = await holds.covering(candidates);
  const waiting = history ? await unsentSessions(db, tenantId, history.forward, candidates) : none;
  const isDue = (candidate: Candidate) => candidate.isDue && !waiting.has(candidate.id);
  const due = candidates.filter((candidate) => isDue(candidate) && !held.has(candidate));
  let { passed, isBlocked } = from;
  for (const candidate of candidates) {
    if (!isDue(candidate)) isBlocked = true;
    if (!isBlocked && held.has(candidate)) passed = candidate;
  }
  if (passed && passed !== from.passed) await storePosition(db, tenantId, step, passed);
  const reason: DeletionReason = {
    by: 'retention',
    days: daysKept(policy, step.retention),
    before: isoTime(beforeMs),
  };
  const ids = due.map(({ id }) => id);
  const count = ids.length === 0 ? 0 : await step.drop(db, tenantId, ids, { reason, beforeMs, nowMs });
  return { count, next: { atMs: last.atMs, id: last.id, passed, isBlocked } };
}

const none: ReadonlySet<string> = new Set();

/** Returns the sessions that the history does not have, or with events that it, or the log, does not have yet. */
async function unsentSessions(
  db: Database,
  tenantId: number,
  forward: string,
  candidates: readonly Candidate[],
): Promise<ReadonlySet<string>> {
  const ids = JSON.stringify(candidates.map(({ id }) => id));
  const position = await forwardPosition(db, tenantId, forward);
  const unsent = await db
    .selectFrom('log_ranges')
    .select('id')
    .distinct()
    .where('tenant_id', '=', tenantId)
    .where('kind', '=', 'event')
    .where(oneOf(db, 'id', ids))
    .where(({ eb }) => eb(eb('first_index', '+', eb.ref('entry_count')), '>', position + 1))
    .execute();
  const unlogged = await db
    .selectFrom('sessions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where(oneOf(db, 'id', ids))
    .whereRef('log_arrival', '<', 'last_arrival')
    .execute();
  const kept = await keptPosition(db, tenantId);
  const notKept = candidates.filter(
    ({ atMs, id }) => atMs > kept.atMs || (atMs === kept.atMs && id > kept.id),
  );
  return new Set([...unsent, ...unlogged, ...notKept].map(({ id }) => id));
}

/** Name of the position up to which the history has the sessions that are past retention. */
const keptStep = { name: 'history' } as const;

/** Returns the last session that the history has. */
export async function keptPosition(db: Database, tenantId: number): Promise<Position> {
  return (await storedPosition(db, tenantId, keptStep)) ?? start;
}

/** Stores the last session that the history has. */
export function storeKeptPosition(db: Database, tenantId: number, position: Position): Promise<void> {
  return storePosition(db, tenantId, keptStep, position);
}

async function storedPosition(
  db: Database,
  tenantId: number,
  { name }: Pick<PruneStep, 'name'>,
): Promise<Position | undefined> {
  const row = await db
    .selectFrom('retention_positions')
    .select(['at_ms', 'id'])
    .where('tenant_id', '=', tenantId)
    .where('name', '=', name)
    .executeTakeFirst();
  return row && { atMs: Number(row.at_ms), id: row.id };
}

async function storePosition(
  db: Database,
  tenantId: number,
  { name }: Pick<PruneStep, 'name'>,
  { atMs, id }: Position,
): Promise<void> {
  const at = { at_ms: atMs, id };
  await db
    .insertInto('retention_positions')
    .values({ tenant_id: tenantId, name, ...at })
    .onConflict((conflict) => conflict.columns(['tenant_id', 'name']).doUpdateSet(at))
    .execute();
}

/**
 * Deletes the oldest messages to webhooks of a tenant, unless it has a legal hold: a message tells what happened, and to
 * whom, so every hold covers it.
 *
 * @returns `true` if there can be more
 */
export async function pruneDeliveries(db: Database, tenantId: number, beforeMs: number): Promise<boolean> {
  await beginDeletion(db, tenantId);
  if ((await activeHolds(db, tenantId)).count > 0) return false;
  return dropOldest(db, oldDeliveries(tenantId, beforeMs));
}
