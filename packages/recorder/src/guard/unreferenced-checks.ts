import type { Actlog, Clock } from '@actlog/client';
import type { PolicyCheck } from '@actlog/protocol';
import { createEventPool, type EventPool, isImmediateFaked } from '../delivery/event-pool.ts';
import { detached } from '../lib/detached.ts';
import { timers } from '../lib/timers.ts';
import type { CheckOptions, PolicyChecker } from './policy-checks.ts';

/** Number of connections for checks that nobody waits for. */
const connections = 8;

/** The platform's clock, with timers that do not keep the process alive. */
const clock: Clock = {
  now: () => timers.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback, delayMs) => timers.setTimeout(callback, delayMs).unref(),
  clearTimeout: (timer) => timers.clearTimeout(timer as NodeJS.Timeout),
  random: () => Math.random(),
};

/**
 * Checks without keeping the process alive: an unresponsive service would otherwise block an agent that is done. If the
 * user configured the transport, it is used unchanged.
 */
export class UnreferencedChecks implements PolicyChecker {
  readonly #client: Actlog;
  readonly #running = new Set<Promise<unknown>>();
  #connection: Promise<Connection> | undefined;

  constructor(client: Actlog) {
    this.#client = client;
  }

  check(body: PolicyCheck, options: CheckOptions): Promise<unknown> {
    this.#connection ??= detached(() => this.#connect());
    const response = this.#connection.then(({ policies }) => policies.check(body, options));
    this.#running.add(response);
    return response.finally(() => this.#running.delete(response));
  }

  /** Closes the connections when the running checks have ended. A later check opens new ones. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.allSettled(this.#running);
    // A failure to connect was reported by the checks.
    await connection?.then(({ pool }) => pool?.destroy()).catch(() => {});
  }

  async #connect(): Promise<Connection> {
    const client = this.#client.withOptions({ clock });
    if (!client.usesDefaultPool) return { policies: client.policies, pool: undefined };
    const pool = await createEventPool(new URL(client.baseURL).origin, { connections, pipelining: 1 });
    return { policies: client.withOptions({ dispatcher: pool as never }).policies, pool };
  }
}

/** Connection of the checks. */
interface Connection {
  readonly policies: PolicyChecker;
  /** Undefined if the user configured the transport, which is not ours to close. */
  readonly pool: EventPool | undefined;
}

/**
 * Checks through the client, except while a test fakes timers: these block the client's connections, so that other ones
 * are used.
 */
export class AwaitedChecks implements PolicyChecker {
  readonly #client: Actlog;
  readonly #others: PolicyChecker;

  constructor(client: Actlog, others: PolicyChecker) {
    this.#client = client;
    this.#others = others;
  }

  check(body: PolicyCheck, options: CheckOptions): PromiseLike<unknown> {
    const { policies, usesDefaultPool } = this.#client;
    return (usesDefaultPool && isImmediateFaked() ? this.#others : policies).check(body, options);
  }
}
