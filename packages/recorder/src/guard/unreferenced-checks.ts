import type { Actlog, Clock } from '@actlog/client';
import type { PolicyCheck } from '@actlog/protocol';
import { createEventPool } from '../delivery/event-pool.ts';
import { detached } from '../detached.ts';
import { timers } from '../timers.ts';
import type { CheckOptions, PolicyChecker } from './guard.ts';

/** Connections for questions that nobody waits for. */
const connections = 8;

/** The platform's clock, with timers that do not keep the process alive. */
const clock: Clock = {
  now: () => performance.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback, delayMs) => timers.setTimeout(callback, delayMs).unref(),
  clearTimeout: (timer) => timers.clearTimeout(timer as NodeJS.Timeout),
  random: () => Math.random(),
};

/**
 * Asks without keeping the process alive: a service that hangs would otherwise hold an agent that is done, for answers
 * that nobody waits for. Where the user chose how requests travel, that way is taken as it is.
 */
export class UnreferencedChecks implements PolicyChecker {
  readonly #client: Actlog;
  #policies: Promise<PolicyChecker> | undefined;

  constructor(client: Actlog) {
    this.#client = client;
  }

  async check(body: PolicyCheck, options: CheckOptions): Promise<unknown> {
    this.#policies ??= detached(() => this.#connect());
    const policies = await this.#policies;
    return policies.check(body, options);
  }

  async #connect(): Promise<PolicyChecker> {
    const client = this.#client.withOptions({ clock });
    if (!client.usesDefaultPool) return client.policies;
    const pool = await createEventPool(new URL(client.baseURL).origin, { connections, pipelining: 1 });
    return client.withOptions({ dispatcher: pool as never }).policies;
  }
}
