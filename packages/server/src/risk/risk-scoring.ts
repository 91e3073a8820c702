import { type Arrival, type RiskEvent, riskEvent } from '@actlog/risk';
import type { Selectable } from 'kysely';
import type { Metrics } from '../observability/metrics.ts';
import type { ScoringBacklog } from '../storage/event-recording.ts';
import type { EventTable } from '../storage/schema.ts';
import type { SessionSummary } from '../storage/sessions/session-store.ts';
import type { Storage } from '../storage/storage.ts';
import { storedEvent } from '../storage/stores/event-log.ts';
import { unscoredSessions } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';
import type { WebhookOutbox } from '../webhooks/webhook-outbox.ts';

/**
 * Delay before the sessions of recent events are scored, in milliseconds. All events of that time are scored at once.
 */
const scoreAfterMs = 1000;

/** Delay between rounds while more sessions are unscored, in milliseconds. */
const nextRoundAfterMs = 20;

/** Maximum rounds that a list waits for. Under extreme load it shows some sessions a second late instead of waiting. */
const roundsBeforeList = 5;

/** Number of sessions that one call catches up with. */
const sessionsPerRound = 100;

/**
 * Scores every session soon after its events, and before its risk is read. Scoring costs more than storing an event, so
 * a session with many events is scored once for all of them.
 */
export class RiskScoring {
  readonly #storage: Storage;
  readonly #outbox: WebhookOutbox;
  readonly #metrics: Metrics;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  /** `true` if an event was written without the recording, so that only the database knows which session is behind. */
  #isBypassed = false;
  #isClosed = false;

  constructor(storage: Storage, outbox: WebhookOutbox, metrics: Metrics) {
    this.#metrics = metrics;
    this.#storage = storage;
    this.#outbox = outbox;
  }

  /** Schedules the work that a write left to do. */
  after(left: ScoringBacklog, delayMs: number = scoreAfterMs): void {
    this.#metrics.levelsReached(left.reached);
    if (left.hasQueuedMessages) this.#outbox.wake();
    if (left.unscored === 0 || this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const round = this.#isBypassed ? this.catchUpAll(roundsBeforeList) : this.#score([]);
      // After a failure, as during an outage of the database, the round is repeated.
      this.#round = round.catch(() => this.scheduleCatchUp());
    }, delayMs);
    this.#timer.unref();
  }

  /** Schedules scoring after an event that was written without the recording. */
  scheduleCatchUp(): void {
    this.#isBypassed = true;
    this.after({ hasQueuedMessages: false, unscored: 1, reached: {} });
  }

  /** Scores the unscored sessions of a tenant, so that a list shows them. */
  async beforeList(tenantId: number): Promise<void> {
    // Only the database knows the events that other processes wrote; several processes may also share a file.
    if (this.#storage.isShared) await this.#catchUpTenant(tenantId);
    else await this.catchUpAll(roundsBeforeList);
  }

  /** Scores the given sessions now. */
  async catchUp(behind: readonly { tenant_id: number; id: string }[]): Promise<void> {
    await this.#score(behind);
  }

  /** Scores all sessions that are behind, as after a crash. */
  async catchUpAll(maxRounds = 10_000): Promise<void> {
    this.#isBypassed = false;
    for (let round = 0; round < maxRounds; round += 1) {
      const behind = await this.#storage.readAcross('sweep', (db) => unscoredSessions(db, sessionsPerRound));
      if (behind.length === 0) return;
      await this.catchUp(behind);
    }
    this.scheduleCatchUp();
  }

  /** Scores the remaining sessions, and schedules nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
    // While other processes keep writing, catching up may never end.
    await this.catchUpAll(this.#storage.isShared ? roundsBeforeList : undefined);
  }

  async #catchUpTenant(tenantId: number): Promise<void> {
    for (let round = 0; round < roundsBeforeList; round += 1) {
      const behind = await this.#storage.read(tenantId, (db) =>
        unscoredSessions(db, sessionsPerRound, tenantId),
      );
      if (behind.length === 0) return;
      await this.catchUp(behind);
    }
  }

  async #score(behind: readonly { tenant_id: number; id: string }[]): Promise<void> {
    this.after(await this.#storage.scoreSessions(behind), nextRoundAfterMs);
  }
}

/** Observer of recorded events, for the risk of their sessions. */
export interface RiskObserver {
  /** Loads the state of the tenant. */
  loadTenant(db: Database, tenantId: number): Promise<void>;
  /** Loads a session's state before its new events are written. */
  load(db: Database, tenantId: number, summary: SessionSummary): Promise<void>;
  /** Returns the part of an event's risk context that depends on data outside its session. */
  stamp(tenantId: number, event: RiskEvent, arrival: Arrival): number;
  /** Reverts the stamps of repeated events, which must not change anything. */
  revert(db: Database, tenantId: number, repeats: readonly RiskEvent[]): Promise<void>;
  /** Observes an event that was written. */
  observe(tenantId: number, event: RiskEvent, stamp: number): void;
}

/** Returns a stored event in the format of the risk engine. */
export function storedRiskEvent(row: Selectable<EventTable>): RiskEvent {
  return riskEvent(storedEvent(row));
}
