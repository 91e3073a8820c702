import { createHash, randomUUID } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { recordTime } from '@actlog/log';
import type { ForwardingState } from '@actlog/protocol';
import { readLogPage } from '../evidence/log-reader.ts';
import { isoTimeOrNull } from '../lib/iso-time.ts';
import type { Metrics } from '../observability/metrics.ts';
import { logHead } from '../storage/log/tenant-log.ts';
import type { Storage } from '../storage/storage.ts';
import {
  type ForwardLease,
  type ForwardState,
  forwardPositions,
  forwardStates,
  leaseForward,
  type RaisedSession,
  raisedSessions,
  recordSentLevels,
  updateForward,
} from '../storage/stores/forward-store.ts';
import type { Database } from '../storage/transaction.ts';
import { type Batch, type BatchItem, batchRecord, type Destination, ForwardError } from './destination.ts';
import type { ForwardSettings } from './forward-settings.ts';
import { type ForwardedRecord, ocsfOfRecord, ocsfOfRisk } from './ocsf.ts';

/** Time limit of a batch, in milliseconds. Indexers may take a minute to acknowledge one. */
const sendTimeoutMs = 120_000;

/** Lease of a position, and time after which it is extended, in milliseconds. A killed process delays others so long. */
const leaseMs = 15_000;
const extendAfterMs = 5000;

/** Maximum batches of a tenant before other tenants have their turn. */
const maxBatches = 20;

/** Maximum sessions with raised risk in a batch, and time between looks for some without new records, in milliseconds. */
const maxRaised = 100;
const lookForRaisedMs = 30_000;

/** Maximum entries that are read for a batch, if most are of deleted records or other kinds. */
const maxReadEntries = 20_000;

/** Maximum entries that are read at once: some milliseconds of work. */
const maxPageEntries = 512;

/** Maximum tenants whose records one process sends to a destination at the same time. */
const maxTenantsAtOnce = 4;

/** Time between looks at the logs of all tenants, in milliseconds. In between, only those that grew are looked at. */
const lookAtAllMs = 30_000;

/** Time for which a log counts as grown, in milliseconds: more than the difference of the clocks of two servers. */
const grownForMs = 60_000;

/** First and longest delay after a failure, in milliseconds, and the longest that a destination may request. */
const firstRetryMs = 1000;
const longestRetryMs = 60_000;
const longestRequestedMs = 3_600_000;

/** A batch of records of a log. */
type LogBatch = Batch<BatchItem> & { readonly entries: NonNullable<Batch['entries']> };

/** Settings of a forwarder, whatever its destination. */
export type ForwarderSettings = Pick<
  ForwardSettings,
  'name' | 'records' | 'tenants' | 'batchRecords' | 'batchBytes' | 'maxDelaySeconds'
> & { readonly kind: ForwardingState['kind'] };

/** Options for {@link Forwarder}. */
export interface ForwarderOptions {
  readonly settings: ForwarderSettings;
  readonly destination: Destination<BatchItem>;
  readonly storage: Storage;
  readonly metrics: Metrics;
  /** Called after a failure, which is repeated. */
  readonly onFailure: (failure: {
    readonly forward: string;
    readonly tenant: string;
    readonly reason: string;
    readonly error: string;
  }) => void;
}

/**
 * Sends the records of all tenants to one destination, in the order of each log. The position in a log is in the
 * database, and moves only when the destination has acknowledged the records before it. Of several processes, the one
 * with the lease of a position sends. Each record is sent at least once: again only if a process ended, or lost its
 * lease, between the acknowledgement and the move. Waiting records are in the log alone, so a long outage needs no memory.
 */
export class Forwarder {
  readonly #options: ForwarderOptions;
  readonly #stopping = new AbortController();
  readonly #running = new Map<number, Promise<void>>();
  /** Times at which logs with less than a batch were seen first, by tenant. */
  readonly #waitingSinceMs = new Map<number, number>();
  /** Times of the last looks for raised risk, by tenant. */
  readonly #lookedMs = new Map<number, number>();
  /** Lags by tenant, of those with one. */
  readonly #lags = new Map<number, number>();
  /** Time of the last look at all logs. */
  #lookedAtAllMs = Number.NEGATIVE_INFINITY;
  /** Tenant that was started last. */
  #lastTenantId = 0;

  constructor(options: ForwarderOptions) {
    this.#options = options;
  }

  /** Name in the settings. */
  get name(): string {
    return this.#options.settings.name;
  }

  /** Starts to send what is due. Resolves when it has begun, not when it is sent. */
  async pass(): Promise<void> {
    const { storage, settings, metrics } = this.#options;
    const { name } = settings;
    if (this.#stopping.signal.aborted) return;
    const states = await storage.readAcross('sweep', (db) => this.#states(db));
    metrics.forwardLag(
      name,
      [...this.#lags.values()].reduce((sum, lag) => sum + lag, 0),
    );
    // The tenants after the last one come first, so that none waits for the others forever.
    const next = states.findIndex(({ tenantId }) => tenantId > this.#lastTenantId);
    const ordered = next < 1 ? states : [...states.slice(next), ...states.slice(0, next)];
    for (const state of ordered.filter((candidate) => this.#isDue(candidate))) {
      if (this.#running.size >= maxTenantsAtOnce) break;
      this.#lastTenantId = state.tenantId;
      const running = this.#forward(state)
        .catch((error: unknown) => this.#report(state, new ForwardError('internal', String(error))))
        .finally(() => this.#running.delete(state.tenantId));
      this.#running.set(state.tenantId, running);
    }
  }

  /** Returns the states of the logs that grew or wait, and from time to time of all logs. */
  async #states(db: Database): Promise<ForwardState[]> {
    const { name, tenants } = this.#options.settings;
    const nowMs = Date.now();
    const isOfAll = performance.now() - this.#lookedAtAllMs >= lookAtAllMs;
    const logs = { grownSinceMs: nowMs - grownForMs, tenantIds: [...this.#lags.keys()] };
    const states = (await forwardStates(db, name, nowMs, isOfAll ? undefined : logs)).filter(
      ({ tenant }) => tenants === undefined || tenants.includes(tenant),
    );
    if (isOfAll) {
      this.#lookedAtAllMs = performance.now();
      this.#lags.clear();
    }
    for (const { tenantId, lag } of states) {
      if (lag > 0) this.#lags.set(tenantId, lag);
      else this.#lags.delete(tenantId);
    }
    return states;
  }

  /** Resolves when nothing is being sent. */
  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running.values());
  }

  /** Aborts what is being sent, and releases the leases. Another process, or the next start, sends it again. */
  async close(): Promise<void> {
    this.#stopping.abort();
    await this.idle();
    await this.#options.destination.close();
  }

  #isDue({ tenantId, lag, isDue }: ForwardState): boolean {
    const { batchRecords, maxDelaySeconds } = this.#options.settings;
    if (lag === 0) this.#waitingSinceMs.delete(tenantId);
    if (!isDue || this.#running.has(tenantId)) return false;
    if (lag === 0) return this.#hasLookedLongAgo(tenantId);
    if (lag >= batchRecords || maxDelaySeconds === 0) return true;
    const nowMs = performance.now();
    const sinceMs = this.#waitingSinceMs.get(tenantId) ?? nowMs;
    this.#waitingSinceMs.set(tenantId, sinceMs);
    return nowMs - sinceMs >= maxDelaySeconds * 1000;
  }

  #hasLookedLongAgo(tenantId: number): boolean {
    if (!this.#options.settings.records.includes('risk')) return false;
    return performance.now() - (this.#lookedMs.get(tenantId) ?? 0) >= lookForRaisedMs;
  }

  async #forward(state: ForwardState): Promise<void> {
    const { storage, settings, destination, metrics } = this.#options;
    const { tenantId } = state;
    if (state.lag === 0 && (await this.#raised(tenantId)).length === 0) return;
    const nowMs = Date.now();
    const lease = { tenantId, name: settings.name, lease: randomUUID(), nowMs, untilMs: nowMs + leaseMs };
    const leased = await storage.write(tenantId, ({ db }) => leaseForward(db, lease));
    if (!leased) return;
    this.#waitingSinceMs.delete(tenantId);
    let { position, failures, sending } = leased;
    const lost = new AbortController();
    const extending = setInterval(() => void this.#extend(lease, lost), extendAfterMs).unref();
    try {
      for (let count = 0; count < maxBatches && !this.#stopping.signal.aborted; count += 1) {
        const batch = await this.#read(state, position, this.#limit(lost), sending);
        if (!batch) break;
        const { last } = batch.entries;
        if (destination.convert && last !== sending && !(await this.#update(lease, { sending: last })))
          return;
        sending = null;
        if (batch.records.length > 0) await destination.send(batch);
        const sentMs = Date.now();
        const isHeld = await this.#update(lease, {
          position: last,
          leased_until_ms: sentMs + leaseMs,
          failures: 0,
          last_success_ms: sentMs,
          last_error: null,
        });
        position = last;
        failures = 0;
        metrics.forwarded(settings.name, batch.records.length, sentMs);
        if (!isHeld) return;
        if (settings.maxDelaySeconds > 0 && batch.records.length < settings.batchRecords) break;
      }
      await this.#sendRaised(state, this.#limit(lost));
      await this.#update(lease, { leased_until_ms: 0, lease: null });
    } catch (error) {
      await this.#settleFailure(state, lease, failures, error);
    } finally {
      clearInterval(extending);
    }
  }

  #limit(lost: AbortController): AbortSignal {
    return AbortSignal.any([this.#stopping.signal, lost.signal, AbortSignal.timeout(sendTimeoutMs)]);
  }

  async #raised(tenantId: number): Promise<RaisedSession[]> {
    const { storage, settings } = this.#options;
    if (!settings.records.includes('risk')) return [];
    this.#lookedMs.set(tenantId, performance.now());
    return storage.read(tenantId, (db) => raisedSessions(db, tenantId, settings.name, maxRaised));
  }

  /**
   * Sends raises of risk, after the records that raised it. The levels that were sent are in the database, so that a raise
   * that is found late, or during an outage, is not lost.
   */
  async #sendRaised({ tenantId, tenant }: ForwardState, signal: AbortSignal): Promise<void> {
    const { storage, settings, destination, metrics } = this.#options;
    const raisedMs = Date.now();
    const raised = await this.#raised(tenantId);
    if (raised.length === 0 || signal.aborted) return;
    const records = raised.map((session) => {
      const event = ocsfOfRisk({ ...session, tenant, previousLevel: session.sentLevel, raisedMs });
      // Of a fixed length, because destinations limit identifiers.
      const id = `${tenantId}-risk-${session.level}-${digestOf(session.sessionId)}`;
      return batchRecord(id, event);
    });
    const name = `risk-${digestOf(records.map(({ id }) => id).join('\n'))}`;
    await destination.send({ tenant, name, entries: undefined, records, signal });
    await storage.write(tenantId, ({ db }) => recordSentLevels(db, tenantId, settings.name, raised));
    metrics.forwarded(settings.name, records.length, Date.now());
  }

  /** Extends a lease. If another process has taken it, what is being sent is aborted. */
  async #extend(lease: ForwardLease, lost: AbortController): Promise<void> {
    try {
      const isHeld = await this.#update(lease, { leased_until_ms: Date.now() + leaseMs });
      if (!isHeld) lost.abort();
    } catch {
      // The database is away. The lease may end, and then another process repeats the batch.
    }
  }

  /**
   * Reads the batch after a position; `undefined` if there is nothing.
   *
   * @param sending - last entry of a batch that was sent after this position and not acknowledged
   */
  async #read(
    state: ForwardState,
    position: number,
    signal: AbortSignal,
    sending: number | null,
  ): Promise<LogBatch | undefined> {
    const { storage, settings, destination } = this.#options;
    const { tenantId, tenant } = state;
    const kinds = new Set<string>(settings.records);
    const end = sending !== null && sending > position ? sending : undefined;
    const records: BatchItem[] = [];
    let bytes = 0;
    const first = position + 1;
    const name = String(first).padStart(15, '0');
    const batchTo = (last: number) => ({ tenant, name, entries: { first, last }, records, signal });
    let last = position;
    for (;;) {
      const after = last;
      const room = end === undefined ? settings.batchRecords - records.length : maxPageEntries;
      const limit = Math.min(maxPageEntries, room);
      const page = await storage.read(tenantId, (db) => readLogPage(db, tenantId, after, limit));
      if (page.last === undefined) break;
      for (const { index, record } of page.records) {
        if (end !== undefined && index > end) break;
        if (kinds.has(record.kind)) {
          const added = destination.convert
            ? destination.convert(tenantId, index, record)
            : batchRecord(
                `${tenantId}-${index}`,
                ocsfOfRecord({ ...(record as ForwardedRecord), tenant, index }),
              );
          if (added) {
            records.push(added);
            bytes += added.bytes;
          }
        }
        last = index;
        const isFull = records.length >= settings.batchRecords || bytes >= settings.batchBytes;
        if (isFull && end === undefined) return batchTo(last);
      }
      last = page.last;
      // A file of SQLite is read in this thread, and other work must not wait for a whole batch.
      await setImmediate();
      if (end === undefined ? last - position >= maxReadEntries : last >= end) break;
    }
    return last === position ? undefined : batchTo(end === undefined ? last : Math.min(last, end));
  }

  async #settleFailure(
    state: ForwardState,
    lease: ForwardLease,
    failuresBefore: number,
    error: unknown,
  ): Promise<void> {
    if (this.#stopping.signal.aborted) {
      // Aborted by the shutdown of this process, so it does not count as a failure of the destination.
      await this.#update(lease, { leased_until_ms: 0, lease: null });
      return;
    }
    const failure =
      error instanceof ForwardError
        ? error
        : new ForwardError('internal', String(error), 0, { cause: error });
    this.#report(state, failure);
    const failures = failuresBefore + 1;
    const delayMs = Math.min(firstRetryMs * 2 ** Math.min(failuresBefore, 16), longestRetryMs);
    const jitteredMs = delayMs * (0.5 + Math.random() * 0.5);
    const requestedMs = Math.min(failure.retryAfterMs, longestRequestedMs);
    await this.#update(lease, {
      leased_until_ms: 0,
      lease: null,
      failures,
      next_attempt_ms: Math.round(Date.now() + Math.max(jitteredMs, requestedMs)),
      last_error: failure.message.slice(0, 500),
    });
  }

  #update(lease: ForwardLease, changes: Parameters<typeof updateForward>[2]): Promise<boolean> {
    return this.#options.storage.write(lease.tenantId, ({ db }) => updateForward(db, lease, changes));
  }

  #report({ tenant }: ForwardState, { reason, message }: ForwardError): void {
    const { settings, metrics, onFailure } = this.#options;
    metrics.forwardFailed(settings.name, reason);
    onFailure({ forward: settings.name, tenant, reason, error: message });
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

/** Options for {@link forwardingOf}. */
export interface ForwardingOptions {
  readonly tenantId: number;
  /** Tenant of the operators. Others do not see errors, which name machines of the operators. */
  readonly operators: string;
}

/** Stands for an error that its reader must not see. */
const hidden = 'The destination did not accept the records. The operator of the server sees why.';

/** Returns the state of each destination for one tenant, in the order of the settings. */
export async function forwardingOf(
  storage: Pick<Storage, 'read'>,
  settings: readonly ForwarderSettings[],
  { tenantId, operators }: ForwardingOptions,
): Promise<ForwardingState[]> {
  return storage.read(tenantId, async (db) => {
    const tenant = await db
      .selectFrom('tenants')
      .select('name')
      .where('id', '=', tenantId)
      .executeTakeFirst();
    const { size } = await logHead(db, tenantId);
    const positions = await forwardPositions(db, tenantId);
    const states: ForwardingState[] = [];
    for (const { name, kind, tenants } of settings) {
      if (tenants && !tenants.includes(tenant?.name ?? '')) continue;
      const found = positions.find((row) => row.name === name);
      const position = Number(found?.position ?? -1);
      const waitingSince = await firstTimeAfter(db, tenantId, position);
      states.push({
        name,
        kind,
        position: position < 0 ? null : position,
        lagRecords: Math.max(0, size - 1 - position),
        lagSeconds:
          waitingSince === undefined ? 0 : Math.max(0, Math.round((Date.now() - waitingSince) / 1000)),
        failures: found?.failures ?? 0,
        lastSuccessAt: isoTimeOrNull(found?.last_success_ms == null ? null : Number(found.last_success_ms)),
        lastError:
          found?.last_error == null || tenant?.name === operators ? (found?.last_error ?? null) : hidden,
      });
    }
    return states;
  });
}

/** Returns the time of the first record after an index of a log; `undefined` if there is none. */
async function firstTimeAfter(db: Database, tenantId: number, index: number): Promise<number | undefined> {
  const { records } = await readLogPage(db, tenantId, index);
  const [first] = records;
  return first && recordTime(first.record);
}
