import type { Actlog, Clock } from '@actlog/client';
import type { PolicyCheck } from '@actlog/protocol';
import { createEventPool, type EventPool } from '../delivery/event-pool.ts';
import { detached } from '../detached.ts';
import { timers } from '../timers.ts';
import type { CheckOptions, PolicyChecker } from './policy-questions.ts';

/** Connections for questions that nobody waits for. */
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
 * Asks without keeping the process alive: a service that hangs would otherwise hold an agent that is done, for answers
 * that nobody waits for. Where the user chose how requests travel, that way is taken as it is.
 */
export class UnreferencedChecks implements PolicyChecker {
  readonly #client: Actlog;
  readonly #underWay = new Set<Promise<unknown>>();
  #connection: Promise<Connection> | undefined;

  constructor(client: Actlog) {
    this.#client = client;
  }

  check(body: PolicyCheck, options: CheckOptions): Promise<unknown> {
    this.#connection ??= detached(() => this.#connect());
    const answer = this.#connection.then(({ policies }) => policies.check(body, options));
    this.#underWay.add(answer);
    return answer.finally(() => this.#underWay.delete(answer));
  }

  /** Closes its connections when what is under way is answered. A question that comes later opens others. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.allSettled(this.#underWay);
    // One that could not be opened was told to those who asked.
    await connection?.then(({ pool }) => pool?.destroy()).catch(() => {});
  }

  async #connect(): Promise<Connection> {
    const client = this.#client.withOptions({ clock });
    if (!client.usesDefaultPool) return { policies: client.policies, pool: undefined };
    const pool = await createEventPool(new URL(client.baseURL).origin, { connections, pipelining: 1 });
    return { policies: client.withOptions({ dispatcher: pool as never }).policies, pool };
  }
}

/** What questions travel through. */
interface Connection {
  readonly policies: PolicyChecker;
  /** Undefined where the user chose how requests travel: what they travel through is not ours to close. */
  readonly pool: EventPool | undefined;
}
