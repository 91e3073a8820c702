import { isIP } from 'node:net';
import { channelTestType, webhookTestType } from '@actlog/protocol';
import type { Agent } from 'undici';
import type { Metrics } from '../observability/metrics.ts';
import type { Storage } from '../storage/storage.ts';
import {
  findChannel,
  lockChannel,
  type StoredChannel,
  updateChannel,
} from '../storage/stores/channel-store.ts';
import {
  type DeliveryRow,
  dueDeliveries,
  finishAttempt,
  leaseDeliveries,
  updateDelivery,
} from '../storage/stores/delivery-store.ts';
import { recordUnlimited, serverItself } from '../tenants/audit-log.ts';
import type { DeploymentSecret } from '../tenants/deployment-secret.ts';
import { type AddressGuard, ForbiddenAddressError, portOf } from './address-guard.ts';
import { channelChange, signingSecrets } from './channel-changes.ts';
import { type AttemptOutcome, attemptDelivery, channelDelaysMs, retryDelayMs } from './delivery-attempt.ts';
import {
  type Attempt,
  DeliverySlots,
  type Destination,
  type HostRate,
  HostRates,
  SlowWebhooks,
} from './delivery-slots.ts';
import * as undici from './undici.js';

/** Lease of an attempt, in milliseconds; longer than any attempt. */
const leaseMs = 60_000;

/** Outcome of an attempt that cannot be signed. */
const unsignable: AttemptOutcome = {
  status: null,
  error: 'the webhook was created under another secret of the deployment; create it again',
  retryAfterMs: 0,
  durationMs: null,
};

/** Outcome of an attempt to send to a channel that is not a webhook. */
export interface ChannelOutcome extends AttemptOutcome {
  /** Name of the message at the receiver; `null` if it stays as it was. */
  readonly reference: string | null;
}

/** Sends to channels that are not webhooks. */
export interface ChannelSender {
  /** Makes one attempt. Never throws. Sends nothing if the message is no longer wanted, which counts as success. */
  attempt(channel: StoredChannel, row: DeliveryRow): Promise<ChannelOutcome>;
}

/** An attempt of this process. */
interface OwnAttempt extends Attempt {
  readonly sinceMs: number;
  readonly done: Promise<void>;
}

/** Sends the messages in the outbox. Any number of processes can; a crash at most repeats a message. */
export class WebhookSender {
  readonly #storage: Storage;
  readonly #secret: DeploymentSecret;
  readonly #agent: Agent;
  readonly #channels: ChannelSender | undefined;
  readonly #inFlight = new Map<string, OwnAttempt>();
  readonly #slowWebhooks = new SlowWebhooks();
  readonly #hostRates: HostRates;
  readonly #metrics: Metrics;
  /** Deliveries that were counted against the rate of their host before they were leased. */
  readonly #admitted = new WeakSet<DeliveryRow>();
  #nextPassTimer: NodeJS.Timeout | undefined;
  #currentPass: Promise<void> | undefined;
  #needsPass = false;
  #isClosed = false;

  /**
   * @param hostRate - limits the attempts to each host; without it they are not limited
   * @param channels - sends to channels that are not webhooks; without it their messages wait
   */
  constructor(
    storage: Storage,
    secret: DeploymentSecret,
    guard: AddressGuard,
    metrics: Metrics,
    hostRate?: HostRate,
    channels?: ChannelSender,
  ) {
    this.#channels = channels;
    this.#metrics = metrics;
    this.#storage = storage;
    this.#secret = secret;
    this.#agent = guardedAgent(guard);
    this.#hostRates = new HostRates(hostRate);
  }

  /** Starts every due attempt. Resolves when they are started, not when they have ended. */
  pass(): Promise<void> {
    // A running pass may have read the outbox before the message of this call was queued.
    this.#needsPass = true;
    this.#currentPass ??= this.#passes().finally(() => {
      this.#currentPass = undefined;
    });
    return this.#currentPass;
  }

  /** Resolves when no attempt is in progress. */
  async idle(): Promise<void> {
    while (this.#currentPass || this.#inFlight.size > 0) {
      await this.#currentPass;
      await Promise.all([...this.#inFlight.values()].map(({ done }) => done));
    }
  }

  /** Aborts all attempts. Another process, or the next start, repeats them. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#nextPassTimer);
    await this.#agent.destroy();
    await this.idle();
  }

  async #passes(): Promise<void> {
    while (this.#needsPass && !this.#isClosed) {
      this.#needsPass = false;
      await this.#startDue();
    }
    this.#scheduleNextPass();
  }

  async #startDue(): Promise<void> {
    const nowMs = Date.now();
    for (const { channelId, sinceMs } of this.#inFlight.values()) {
      this.#slowWebhooks.recordInProgress(channelId, sinceMs, nowMs);
    }
    const slots = new DeliverySlots(this.#inFlight.values(), this.#slowWebhooks);
    const { room } = slots;
    if (room === 0) return;
    const { tenantIds, channelIds } = slots.busy;
    const busy = { tenantIds, channelIds: [...channelIds, ...this.#hostRates.blocked(nowMs)] };
    const due = await this.#storage.readAcross('sweep', (db) => dueDeliveries(db, nowMs, busy, room));
    if (due.length === 0) return;
    let waits = false;
    const chosen = due.filter((row) => {
      if (!slots.take(row.tenant_id, row.channel_id)) return false;
      const destination = this.#hostRates.destination(row.channel_id);
      if (!destination) return true;
      const isTaken = this.#hostRates.take(destination, nowMs);
      if (isTaken) this.#admitted.add(row);
      else waits = true;
      return isTaken;
    });
    const leased = await this.#storage.writeAcross('sweep', ({ db }) =>
      leaseDeliveries(db, chosen, nowMs + leaseMs),
    );
    for (const row of leased) {
      const sinceMs = Date.now();
      const done = this.#deliver(row).finally(() => {
        this.#inFlight.delete(row.id);
        this.#slowWebhooks.record(row.channel_id, Date.now() - sinceMs);
        // The ended attempt frees a slot for a due delivery.
        void this.pass().catch(() => {});
      });
      this.#inFlight.set(row.id, {
        tenantId: row.tenant_id,
        channelId: row.channel_id,
        sinceMs,
        done: done.catch(() => {}),
      });
    }
    // Skipped deliveries may hide due ones behind them; the next query leaves their receivers out.
    if (due.length === room && (leased.length > 0 || waits)) this.#needsPass = true;
  }

  /** Schedules a pass for when a host accepts the next attempt. */
  #scheduleNextPass(): void {
    clearTimeout(this.#nextPassTimer);
    const delayMs = this.#isClosed ? undefined : this.#hostRates.delayMs(Date.now());
    if (delayMs === undefined) return;
    this.#nextPassTimer = setTimeout(() => void this.pass().catch(() => {}), Math.max(10, delayMs)).unref();
  }

  async #deliver(row: DeliveryRow): Promise<void> {
    const tenantId = row.tenant_id;
    const channel = await this.#storage.read(tenantId, (db) => findChannel(db, tenantId, row.channel_id));
    if (!channel || channel.status === 'disabled') {
      const changes = {
        status: 'failed',
        finished_ms: Date.now(),
        last_error: 'the receiver is disabled',
      } as const;
      await this.#storage.write(tenantId, ({ db }) => updateDelivery(db, row, changes));
      this.#metrics.delivery('failed');
      return;
    }
    if (!this.#admitted.has(row) && !this.#hostRates.take(destinationOf(channel), Date.now())) {
      // The destination is known only now. The delivery waits for its turn without using up an attempt.
      await this.#storage.write(tenantId, ({ db }) => updateDelivery(db, row, { leased_until_ms: 0 }));
      return;
    }
    const outcome = await this.#attempt(channel, row);
    if (this.#isClosed && outcome.error !== null && outcome.status === null) {
      // Aborted by this process's own shutdown, so it does not count as a failure of the receiver.
      await this.#storage.write(tenantId, ({ db }) => updateDelivery(db, row, { leased_until_ms: 0 }));
      return;
    }
    await this.#settle(row, channel.id, outcome);
  }

  #attempt(channel: StoredChannel, row: DeliveryRow): Promise<AttemptOutcome & Partial<ChannelOutcome>> {
    if (channel.kind !== 'webhook' && this.#channels) return this.#channels.attempt(channel, row);
    const secrets = signingSecrets(channel, this.#secret, Date.now());
    if (!secrets) return Promise.resolve(unsignable);
    return attemptDelivery(this.#agent, channel.url, secrets, row);
  }

  async #settle(
    row: DeliveryRow,
    channelId: string,
    outcome: AttemptOutcome & Partial<ChannelOutcome>,
  ): Promise<void> {
    const nowMs = Date.now();
    await this.#storage.write(row.tenant_id, async ({ db, afterCommit }) => {
      const channel = await lockChannel(db, row.tenant_id, channelId);
      if (!channel) return;
      const attempts = row.attempts + 1;
      const lastAttempt = {
        last_status: outcome.status,
        last_error: outcome.error,
        last_duration_ms: outcome.durationMs,
        ...(outcome.reference && { reference: outcome.reference }),
      };
      if (outcome.error === null) {
        afterCommit(() => this.#metrics.delivery('delivered'));
        await finishAttempt(db, row, lastAttempt, { attempts, status: 'delivered', finished_ms: nowMs });
        await updateChannel(db, channel, {
          last_delivery_ms: nowMs,
          failure_count: 0,
          failing_since_ms: null,
        });
        return;
      }
      const isTest = row.event_type === webhookTestType || row.event_type === channelTestType;
      const isOnlyAttempt = outcome.status === 410 || isTest;
      const delays = channel.kind === 'webhook' ? undefined : channelDelaysMs;
      const delayMs = isOnlyAttempt ? undefined : retryDelayMs(attempts, outcome.retryAfterMs, delays);
      afterCommit(() => this.#metrics.delivery(delayMs === undefined ? 'failed' : 'retrying'));
      await finishAttempt(db, row, lastAttempt, {
        attempts,
        ...(delayMs === undefined
          ? { status: 'failed', finished_ms: nowMs }
          : { next_attempt_ms: nowMs + delayMs }),
      });
      const changes = changesAfterFailure(channel, {
        // The endpoint of one browser is gone, not the channel.
        isGone: outcome.status === 410 && row.recipient === null,
        isLast: delayMs === undefined,
        nowMs,
      });
      await updateChannel(db, channel, changes);
      if (changes.status !== undefined && channel.status === 'active') {
        const change = channelChange('webhook.disabled', channel, { ...channel, ...changes });
        await recordUnlimited(db, row.tenant_id, serverItself, change);
      }
    });
  }
}

function destinationOf({ id, tenant_id: tenantId, url }: StoredChannel): Destination {
  return { channelId: id, tenantId, host: new URL(url).hostname };
}

/**
 * Time of uninterrupted failure after which a webhook is disabled, once all attempts of a message have failed, in
 * milliseconds. A single failure is not enough, because nothing may have been sent for a long time before it.
 */
const disabledAfterMs = 5 * 24 * 3_600_000;

/** Returns a webhook's status after a failed attempt. A 410, or a message's last failed attempt, may disable it. */
function changesAfterFailure(
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

/** Timeouts for connecting and for the response, in milliseconds (Standard Webhooks recommends 15 to 30 s). */
const connectTimeoutMs = 10_000;
const responseTimeoutMs = 15_000;

/**
 * Creates an HTTP agent that connects only to permitted ports and addresses. It checks a literal address as it is, a
 * name by the addresses to which it resolves, and each socket by its peer. It does not follow redirects. Each attempt
 * has a separate connection, so an unresponsive receiver of one tenant does not delay another on the same host.
 */
export function guardedAgent(guard: AddressGuard): Agent {
  const connect = undici.buildConnector({ lookup: guard.lookup, timeout: connectTimeoutMs });
  return new undici.Agent({
    allowH2: false,
    pipelining: 1,
    headersTimeout: responseTimeoutMs,
    bodyTimeout: responseTimeoutMs,
    maxHeaderSize: 16_384,
    connect: (options, callback) => {
      try {
        guard.requirePort(portOf(options));
      } catch (error) {
        return callback(error as Error, null);
      }
      const host = options.hostname.replace(/^\[|\]$/g, '');
      if (isIP(host) && !guard.permits(host)) return callback(new ForbiddenAddressError(), null);
      connect(options, (error, socket) => {
        if (error) return callback(error, null);
        if (!guard.permits(socket.remoteAddress ?? '')) {
          socket.destroy();
          return callback(new ForbiddenAddressError(), null);
        }
        callback(null, socket);
      });
    },
  });
}
