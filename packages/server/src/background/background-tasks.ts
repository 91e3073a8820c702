import { dropDeletedTenants, dropInBatches } from '../deletion/delete-tenant.ts';
import { repeat } from '../lib/repeat.ts';
import { oldCounts } from '../storage/policies/policy-count-store.ts';
import { dropOldPolicyDecisions } from '../storage/policies/policy-decision-store.ts';
import { dropOldest, type OldRows, oldRows } from '../storage/retention/drop-rows.ts';
import {
  auditRetentions,
  decisionRetentions,
  dropExpired,
  oldHeldCalls,
  type Retention,
  retentions,
} from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import { dropActivityBefore, oldActivity } from '../storage/stores/activity-store.ts';
import { oldGrants } from '../storage/stores/approval-grant-store.ts';
import { dropOldAuditEntries } from '../storage/stores/audit-store.ts';
import { oldCallHistories } from '../storage/stores/call-history-store.ts';
import { oldDeliveries } from '../storage/stores/delivery-store.ts';
import { responsesKeptForMs } from '../storage/stores/idempotent-response-store.ts';
import { dropEndedActions } from '../storage/stores/pending-action-store.ts';
import { oldSignIns } from '../storage/stores/sign-in-store.ts';
import type { Database } from '../storage/transaction.ts';

type Work = (signal: AbortSignal) => Promise<unknown>;

/** Periodic tasks while the server runs. Rounds of one task never overlap. */
export class BackgroundTasks {
  readonly #onError: (name: string, error: unknown) => void;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();

  /** @param onError - called when a round of a task fails; the next round is run as usual */
  constructor(onError: (name: string, error: unknown) => void) {
    this.#onError = onError;
  }

  /**
   * Runs `work` every `everyMs`. The timer does not keep the process alive. The signal aborts when the tasks are
   * stopped, so that long work can stop early; the rest is done after the next start.
   */
  every(everyMs: number, name: string, work: Work): void {
    this.#timers.push(setInterval(() => this.#round(name, work), everyMs).unref());
  }

  /** Stops the timers, aborts running rounds, and resolves when all have ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all(this.#running.values());
  }

  #round(name: string, work: Work): void {
    const { signal } = this.#stopping;
    if (signal.aborted || this.#running.has(name)) return;
    const round = work(signal)
      .then(() => {})
      .catch((error: unknown) => this.#onError(name, error))
      .finally(() => this.#running.delete(name));
    this.#running.set(name, round);
  }
}

const dayMs = 24 * 3_600_000;

/** Time for which finished deliveries stay in the log, in milliseconds. */
const deliveriesKeptForMs = 30 * dayMs;

/** Time for which counted actions are kept, in milliseconds. The longest window of a rate condition is a day. */
const countsKeptForMs = 2 * dayMs;

/**
 * Deletes expired data of all tenants, sessions and held actions past their tenant's retention, and the rest of deleted
 * tenants. A step that fails, as when another process holds a lock, does not prevent the others.
 *
 * @param signal - stops early when aborted; the rest is deleted next time
 * @throws AggregateError with the errors of the failed steps.
 */
export async function deleteExpiredData(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<void> {
  const parts = [
    () => storage.maintain(nowMs),
    ...expiredRows(nowMs).map((rows) => () => dropExpiredRows(storage, rows, signal)),
    () => dropHeldActions(storage, nowMs, signal),
    () => dropPolicyDecisions(storage, nowMs, signal),
    () => dropAuditEntries(storage, nowMs, signal),
    () => dropCounts(storage, nowMs, signal),
    () => dropExpiredSessions(storage, nowMs, signal),
    () => dropDeletedTenants(storage, nowMs, signal),
    () => storage.truncateLog(),
  ];
  const errors: unknown[] = [];
  for (const part of parts) await part().catch((error: unknown) => errors.push(error));
  if (errors.length > 0) throw new AggregateError(errors, 'Some steps of the cleanup failed.');
}

/** Returns the expired rows of all tenants. */
function expiredRows(nowMs: number): OldRows[] {
  const responses = oldRows({
    table: 'idempotency_keys',
    key: ['tenant_id', 'endpoint', 'key'],
    age: 'created_ms',
    beforeMs: nowMs - responsesKeptForMs + 1,
  });
  return [
    responses,
    ...oldCounts(nowMs - countsKeptForMs),
    oldDeliveries(nowMs - deliveriesKeptForMs),
    ...oldActivity(nowMs),
    oldSignIns(nowMs),
  ];
}

async function dropExpiredRows(
  storage: Storage,
  rows: OldRows,
  signal: AbortSignal | undefined,
): Promise<void> {
  await repeat(() => storage.writeAcross('sweep', ({ db }) => dropOldest(db, rows)), signal);
}

async function dropHeldActions(
  storage: Storage,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  for (const { tenantId, keptFromMs, days } of await keptFrom(storage, nowMs)) {
    const reason = { by: 'retention', days } as const;
    const drop = (work: (db: Database) => Promise<boolean>) =>
      repeat(() => storage.write(tenantId, ({ db }) => work(db)), signal);
    await drop((db) => dropEndedActions(db, tenantId, keptFromMs, reason));
    await drop((db) => dropOldest(db, oldHeldCalls(tenantId, keptFromMs)));
    await drop((db) => dropOldest(db, oldCallHistories(tenantId, keptFromMs)));
    await drop((db) => dropOldest(db, oldGrants(tenantId, keptFromMs)));
  }
}

async function dropCounts(storage: Storage, nowMs: number, signal: AbortSignal | undefined): Promise<void> {
  for (const { tenantId, keptFromMs } of await keptFrom(storage, nowMs)) {
    await repeat(
      () => storage.write(tenantId, ({ db }) => dropActivityBefore(db, tenantId, keptFromMs)),
      signal,
    );
  }
}

async function dropPolicyDecisions(
  storage: Storage,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const kept = await storage.readAcross('sweep', (db) => decisionRetentions(db, nowMs));
  for (const { tenantId, keptFromMs, days } of kept) {
    const reason = { by: 'retention', days } as const;
    await repeat(
      () => storage.write(tenantId, ({ db }) => dropOldPolicyDecisions(db, tenantId, keptFromMs, reason)),
      signal,
    );
  }
}

async function dropAuditEntries(
  storage: Storage,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const kept = await storage.readAcross('sweep', (db) => auditRetentions(db, nowMs));
  for (const { tenantId, keptFromMs, days } of kept) {
    const reason = { by: 'retention', days } as const;
    await repeat(
      () => storage.write(tenantId, ({ db }) => dropOldAuditEntries(db, tenantId, keptFromMs, reason)),
      signal,
    );
  }
}

/**
 * Deletes the sessions that are past their tenant's retention, a few per transaction.
 *
 * @param signal - stops early when aborted; the rest is deleted next time
 * @returns the number of sessions deleted.
 */
export async function dropExpiredSessions(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
): Promise<number> {
  let dropped = 0;
  for (const retention of await keptFrom(storage, nowMs)) {
    const drop = (db: Database, ids: readonly string[]) => dropExpired(db, retention.tenantId, ids, nowMs);
    dropped += await dropInBatches(storage, retention, drop, signal);
    if (signal?.aborted) break;
  }
  return dropped;
}

function keptFrom(storage: Storage, nowMs: number): Promise<Retention[]> {
  return storage.readAcross('sweep', (db) => retentions(db, nowMs));
}
