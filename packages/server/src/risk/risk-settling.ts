import type { Settled } from '../ingest/event-recorder.ts';
import { sessionsBehind } from '../storage/risk-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { Outbox } from '../webhooks/outbox.ts';

/** Milliseconds after which sessions of a busy moment are scored: all their events of that time at once. */
const settleAfterMs = 1000;

/** Milliseconds between rounds while more wait. */
const nextRoundAfterMs = 20;

/** Rounds that a list waits for: under the heaviest load it may show some sessions a second late, but it answers. */
const roundsBeforeList = 5;

/** Sessions that one call catches up with. */
const caughtUpAtOnce = 100;

/**
 * Sees to it that every session is scored soon after its events, and before anyone reads its risk. Scoring costs
 * more than storing an event, so a session that gets many events is scored once for all of them.
 */
export class RiskSettling {
  readonly #storage: Storage;
  readonly #outbox: Outbox;
  #timer: NodeJS.Timeout | undefined;
  #round: Promise<void> = Promise.resolve();
  /** Whether an event was written past the recording, so that only the database knows which session is behind. */
  #isBypassed = false;
  #isClosed = false;

  constructor(storage: Storage, outbox: Outbox) {
    this.#storage = storage;
    this.#outbox = outbox;
  }

  /** Takes note of what a write left to do. */
  after(left: Settled, delayMs: number = settleAfterMs): void {
    if (left.leftMessages) this.#outbox.wake();
    if (left.unsettled === 0 || this.#timer || this.#isClosed) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      const round = this.#isBypassed ? this.catchUpAll(roundsBeforeList) : this.#settle([]);
      // What failed, as while the database is gone, is tried again.
      this.#round = round.catch(() => this.noteBehind());
    }, delayMs);
    this.#timer.unref();
  }

  /** Takes note of an event that was written past the recording. */
  noteBehind(): void {
    this.#isBypassed = true;
    this.after({ leftMessages: false, unsettled: 1 });
  }

  /** Scores what has been written to a tenant's sessions, so that a list shows it. */
  async beforeList(tenantId: number): Promise<void> {
    // What other processes have written, only the database knows; of a file, there may be several too.
    if (this.#storage.isShared) await this.#catchUpTenant(tenantId);
    else await this.catchUpAll(roundsBeforeList);
  }

  /** Scores these sessions now. */
  async catchUp(behind: readonly { tenant_id: number; id: string }[]): Promise<void> {
    await this.#settle(behind);
  }

  /** Scores whatever sessions are behind, as after a crash. */
  async catchUpAll(maxRounds = 10_000): Promise<void> {
    this.#isBypassed = false;
    for (let round = 0; round < maxRounds; round += 1) {
      const behind = await this.#storage.readAcross('sweep', (db) => sessionsBehind(db, caughtUpAtOnce));
      if (behind.length === 0) return;
      await this.catchUp(behind);
    }
    this.noteBehind();
  }

  /** Scores what waits, and starts nothing more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#round;
    // Where others go on writing, the end of what is behind may never come.
    await this.catchUpAll(this.#storage.isShared ? roundsBeforeList : undefined);
  }

  async #catchUpTenant(tenantId: number): Promise<void> {
    for (let round = 0; round < roundsBeforeList; round += 1) {
      const behind = await this.#storage.read(tenantId, (db) => sessionsBehind(db, caughtUpAtOnce, tenantId));
      if (behind.length === 0) return;
      await this.catchUp(behind);
    }
  }

  async #settle(behind: readonly { tenant_id: number; id: string }[]): Promise<void> {
    this.after(await this.#storage.settle(behind), nextRoundAfterMs);
  }
}
