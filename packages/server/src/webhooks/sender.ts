import type { Agent } from 'undici';
import type { DeploymentSecret } from '../keys/deployment-secret.ts';
import { findChannel, lockChannel, type StoredChannel, updateChannel } from '../storage/channel-store.ts';
import {
  type DeliveryRow,
  dueDeliveries,
  endTry,
  leaseDeliveries,
  updateDelivery,
} from '../storage/delivery-store.ts';
import type { Storage } from '../storage/storage.ts';
import type { AddressGuard } from './address-guard.ts';
import { signingSecrets } from './channel-secret.ts';
import { type AttemptOutcome, attemptDelivery } from './delivery-attempt.ts';
import { guardedAgent } from './guarded-connection.ts';
import { retryDelayMs } from './retry-schedule.ts';
import { Shares, type Try } from './shares.ts';
import { SlowWebhooks } from './slow-webhooks.ts';

/** Milliseconds that a try belongs to a process; longer than a try can take. */
const leaseMs = 60_000;

/**
 * Milliseconds of nothing but failures after which a webhook is disabled, once a message has been tried as often as the
 * schedule says: a receiver that fails now may have failed long ago too, with nothing sent to it in between.
 */
const disabledAfterMs = 5 * 24 * 3_600_000;

/** How a try ends that cannot be signed. */
const unreadable: AttemptOutcome = {
  status: null,
  error: 'the webhook was made under another secret of the deployment; make it anew',
  retryAfterMs: 0,
};

/** A try of this process. */
interface OwnTry extends Try {
  readonly sinceMs: number;
  readonly done: Promise<void>;
}

/** Sends what the outbox holds. Any number of processes can, and a crash costs at most a repeated message. */
export class WebhookSender {
  readonly #storage: Storage;
  readonly #secret: DeploymentSecret;
  readonly #agent: Agent;
  readonly #inFlight = new Map<string, OwnTry>();
  readonly #slowWebhooks = new SlowWebhooks();
  #passing: Promise<void> | undefined;
  #passAgain = false;
  #isClosed = false;

  constructor(storage: Storage, secret: DeploymentSecret, guard: AddressGuard) {
    this.#storage = storage;
    this.#secret = secret;
    this.#agent = guardedAgent(guard);
  }

  /** Starts every try that is due. Resolves when they are under way, not when they have ended. */
  pass(): Promise<void> {
    // A pass that runs has read the outbox already, so what called this one may have been left out.
    this.#passAgain = true;
    this.#passing ??= this.#passes().finally(() => {
      this.#passing = undefined;
    });
    return this.#passing;
  }

  /** Resolves when no try is under way. */
  async idle(): Promise<void> {
    while (this.#passing || this.#inFlight.size > 0) {
      await this.#passing;
      await Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    }
  }

  /** Ends all tries; what had not ended is tried again by whoever runs next. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#agent.destroy();
    await this.idle();
  }

  async #passes(): Promise<void> {
    while (this.#passAgain && !this.#isClosed) {
      this.#passAgain = false;
      await this.#startDue();
    }
  }

  async #startDue(): Promise<void> {
    const nowMs = Date.now();
    for (const { channelId, sinceMs } of this.#inFlight.values()) {
      this.#slowWebhooks.noteUnderWay(channelId, sinceMs, nowMs);
    }
    const shares = new Shares(this.#inFlight.values(), this.#slowWebhooks);
    const { busy, room } = shares;
    if (room === 0) return;
    const due = await this.#storage.readAcross('sweep', (db) => dueDeliveries(db, nowMs, busy, room));
    if (due.length === 0) return;
    const chosen = due.filter((row) => shares.take(row.tenant_id, row.channel_id));
    const leased = await this.#storage.writeAcross('sweep', ({ db }) =>
      leaseDeliveries(db, chosen, nowMs + leaseMs),
    );
    for (const row of leased) {
      const sinceMs = Date.now();
      const done = this.#deliver(row).finally(() => {
        this.#inFlight.delete(row.id);
        this.#slowWebhooks.note(row.channel_id, Date.now() - sinceMs);
        // Whatever ended makes room for what is still due.
        void this.pass().catch(() => {});
      });
      this.#inFlight.set(row.id, {
        tenantId: row.tenant_id,
        channelId: row.channel_id,
        sinceMs,
        done: done.catch(() => {}),
      });
    }
    // What was passed over may have stood before what is due to others; the next look leaves it out.
    if (due.length === room && leased.length > 0) this.#passAgain = true;
  }

  async #deliver(row: DeliveryRow): Promise<void> {
    const tenantId = row.tenant_id;
    const channel = await this.#storage.read(tenantId, (db) => findChannel(db, tenantId, row.channel_id));
    if (!channel || channel.status === 'disabled') {
      const changes = {
        status: 'failed',
        finished_ms: Date.now(),
        last_error: 'the webhook is disabled',
      } as const;
      await this.#storage.write(tenantId, ({ db }) => updateDelivery(db, row, changes));
      return;
    }
    const secrets = signingSecrets(channel, this.#secret, Date.now());
    const outcome = secrets ? await attemptDelivery(this.#agent, channel.url, secrets, row) : unreadable;
    if (this.#isClosed && outcome.status === null) {
      // The end of this process cut it off, which says nothing of the receiver.
      await this.#storage.write(tenantId, ({ db }) => updateDelivery(db, row, { leased_until_ms: 0 }));
      return;
    }
    await this.#settle(row, channel.id, outcome);
  }

  async #settle(row: DeliveryRow, channelId: string, outcome: AttemptOutcome): Promise<void> {
    const nowMs = Date.now();
    await this.#storage.write(row.tenant_id, async ({ db }) => {
      const channel = await lockChannel(db, row.tenant_id, channelId);
      if (!channel) return;
      const attempts = row.attempts + 1;
      const tried = { last_status: outcome.status, last_error: outcome.error };
      if (outcome.error === null) {
        await endTry(db, row, tried, { attempts, status: 'delivered', finished_ms: nowMs });
        await updateChannel(db, channel, {
          last_delivery_ms: nowMs,
          failure_count: 0,
          failing_since_ms: null,
        });
        return;
      }
      const delayMs = outcome.status === 410 ? undefined : retryDelayMs(attempts, outcome.retryAfterMs);
      await endTry(db, row, tried, {
        attempts,
        ...(delayMs === undefined
          ? { status: 'failed', finished_ms: nowMs }
          : { next_attempt_ms: nowMs + delayMs }),
      });
      await updateChannel(
        db,
        channel,
        failedStanding(channel, { isGone: outcome.status === 410, isLast: delayMs === undefined, nowMs }),
      );
    });
  }
}

/** What a failed try makes of a webhook: one that said that it is gone, or that was the last of its message, may end it. */
function failedStanding(
  channel: StoredChannel,
  { isGone, isLast, nowMs }: { readonly isGone: boolean; readonly isLast: boolean; readonly nowMs: number },
) {
  const sinceMs = channel.failing_since_ms ?? nowMs;
  const isDisabled = isGone || (isLast && nowMs - sinceMs >= disabledAfterMs);
  return {
    failure_count: channel.failure_count + 1,
    failing_since_ms: sinceMs,
    ...(isDisabled && { status: 'disabled' as const }),
  };
}
