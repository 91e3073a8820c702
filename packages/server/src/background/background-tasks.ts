import { dropDeletedTenants } from '../deletion/delete-tenant.ts';
import { repeat } from '../lib/repeat.ts';
import { oldCounts } from '../storage/policies/policy-count-store.ts';
import { dropOldest, type OldRows, oldRows, tenantsWithRest } from '../storage/retention/drop-rows.ts';
import {
  DeletionPace,
  dropRest,
  hasExpired,
  otherSteps,
  type PruneHistory,
  type PrunePosition,
  type PruneStep,
  pruneDeliveries,
  pruneSome,
  sessionStep,
} from '../storage/retention/prune.ts';
import { keptFrom, retentions } from '../storage/retention/retention.ts';
import type { Storage } from '../storage/storage.ts';
import { dropActivityBefore, oldActivity } from '../storage/stores/activity-store.ts';
import { oldAlerts } from '../storage/stores/alert-store.ts';
import { hasOldDeliveries } from '../storage/stores/delivery-store.ts';
import { responsesKeptForMs } from '../storage/stores/idempotent-response-store.ts';
import { oldPeople } from '../storage/stores/people-store.ts';
import { oldSignIns } from '../storage/stores/sign-in-store.ts';
import { recordRetention } from '../tenants/retention-policy.ts';

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

/** Time for which people are kept after they signed in last, in milliseconds. */
const peopleKeptForMs = 90 * dayMs;

/** Time for which a cause of alerts is kept after it occurred last, in milliseconds. */
const alertsKeptForMs = 30 * dayMs;

/** Time for which counted actions are kept, in milliseconds. The longest window of a rate condition is a day. */
const countsKeptForMs = 2 * dayMs;

/** History of a deployment, as the cleanup uses it. */
export interface CleanupHistory extends PruneHistory {
  /** Copies the sessions of which no event was received since a time: retention deletes no other. */
  keepSessions(tenantId: number, keptFromMs: number, signal?: AbortSignal): Promise<void>;
  /** Deletes the events of a deleted tenant. */
  deleteTenant(tenantId: number): Promise<void>;
}

/**
 * Deletes expired data of all tenants, records past their tenant's retention, and the rest of deleted tenants. A step that
 * fails, as when another process holds a lock, does not prevent the others.
 *
 * @param signal - stops early when aborted; the rest is deleted next time
 * @throws AggregateError with the errors of the failed steps.
 */
export async function deleteExpiredData(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
  history?: CleanupHistory,
): Promise<void> {
  const parts = [
    ...expiredRows(nowMs).map((rows) => () => dropExpiredRows(storage, rows, signal)),
    () => dropOldDeliveries(storage, nowMs, signal),
    ...otherSteps.map((step) => () => prune(storage, step, nowMs, signal)),
    () => dropCounts(storage, nowMs, signal, history),
    () => dropExpiredSessions(storage, nowMs, signal, history),
    () => dropRestOfDeletedSessions(storage, signal),
    () => dropDeletedTenants(storage, nowMs, signal, history && ((id) => history.deleteTenant(id))),
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
    key: ['endpoint', 'key'],
    age: 'created_ms',
    beforeMs: nowMs - responsesKeptForMs + 1,
  });
  return [
    responses,
    ...oldCounts(nowMs - countsKeptForMs),
    ...oldActivity(nowMs),
    oldSignIns(nowMs),
    oldPeople(nowMs - peopleKeptForMs),
    oldAlerts(nowMs - alertsKeptForMs),
  ];
}

async function dropExpiredRows(
  storage: Storage,
  rows: OldRows,
  signal: AbortSignal | undefined,
): Promise<void> {
  const pace = new DeletionPace(storage, signal);
  await repeat(() => pace.sweep((db) => dropOldest(db, rows)), signal);
}

async function dropOldDeliveries(
  storage: Storage,
  nowMs: number,
  signal: AbortSignal | undefined,
): Promise<void> {
  const beforeMs = nowMs - deliveriesKeptForMs;
  const pace = new DeletionPace(storage, signal);
  for (const { tenantId } of await storage.readAcross('sweep', retentions)) {
    if (!(await storage.read(tenantId, (db) => hasOldDeliveries(db, tenantId, beforeMs)))) continue;
    await repeat(() => pace.write(tenantId, (db) => pruneDeliveries(db, tenantId, beforeMs)), signal);
  }
}

/** Deletes counts of events that are deleted: with a history, of those that it has deleted. */
async function dropCounts(
  storage: Storage,
  nowMs: number,
  signal: AbortSignal | undefined,
  history: CleanupHistory | undefined,
): Promise<void> {
  if (history?.days === null) return;
  const pace = new DeletionPace(storage, signal);
  for (const { tenantId, policy } of await storage.readAcross('sweep', retentions)) {
    const keptFromMs = keptFrom(policy, 'sessions', nowMs);
    if (keptFromMs === undefined) continue;
    const beforeMs = history ? Math.min(keptFromMs, nowMs - history.days * dayMs) : keptFromMs;
    await repeat(() => pace.write(tenantId, (db) => dropActivityBefore(db, tenantId, beforeMs)), signal);
  }
}

/**
 * Deletes the sessions that are past their tenant's retention, a few per transaction.
 *
 * @param signal - stops early when aborted; the rest is deleted next time
 * @param history - must have a session with all its events first
 * @returns the number of sessions deleted.
 */
export function dropExpiredSessions(
  storage: Storage,
  nowMs: number,
  signal?: AbortSignal,
  history?: CleanupHistory,
): Promise<number> {
  return prune(storage, sessionStep, nowMs, signal, history);
}

/** Deletes what is left of long sessions, those included whose deletion was interrupted. */
async function dropRestOfDeletedSessions(storage: Storage, signal: AbortSignal | undefined): Promise<void> {
  const pace = new DeletionPace(storage, signal);
  for (const tenantId of await storage.readAcross('sweep', tenantsWithRest)) {
    await dropRest(pace, tenantId, signal);
  }
}

/** Records the retention in force of each tenant in its log, unless the log has it. */
export async function recordRetentions(storage: Storage): Promise<void> {
  for (const { tenantId, isLogged } of await storage.readAcross('sweep', retentions)) {
    if (!isLogged) await recordRetention(storage, tenantId);
  }
}

/** Runs a step of the cleanup for all tenants. Returns the number of rows deleted. */
async function prune(
  storage: Storage,
  step: PruneStep,
  nowMs: number,
  signal: AbortSignal | undefined,
  history?: CleanupHistory,
): Promise<number> {
  let pruned = 0;
  const pace = new DeletionPace(storage, signal);
  for (const { tenantId, policy, isLogged } of await storage.readAcross('sweep', retentions)) {
    const keptFromMs = keptFrom(policy, step.retention, nowMs);
    if (keptFromMs === undefined) continue;
    await history?.keepSessions(tenantId, keptFromMs, signal);
    let after: PrunePosition | undefined;
    await repeat(async () => {
      // Most tenants have nothing to delete, and a look for it blocks nobody.
      const from = after;
      if (!(await storage.read(tenantId, (db) => hasExpired(db, tenantId, step, nowMs, from, history))))
        return false;
      // Nothing is deleted by a policy that the log does not have.
      if (!isLogged && !from) await recordRetention(storage, tenantId);
      const { count, next } = await pace.write(tenantId, async (db) => {
        const options = { limit: pace.rows, history };
        const result = await pruneSome(db, tenantId, step, nowMs, from, options);
        // Within the transaction, so that no event in between uses a cached session.
        storage.clearSessionCache();
        return result;
      });
      pruned += count;
      after = next;
      return next !== undefined;
    }, signal);
    if (signal?.aborted) break;
  }
  return pruned;
}
