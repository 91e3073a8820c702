import { setTimeout } from 'node:timers/promises';
import { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';

/** Observations of senders while the database is down. */
export interface OutageResult {
  readonly outageSeconds: number;
  readonly acknowledged: number;
  /** Responses 503 with `Retry-After`. */
  readonly refused: number;
  /** Any other responses, and requests without one: must be 0. */
  readonly otherwise: number;
  /** Longest time that a sender waited for a response while the database was down. */
  readonly slowestAnswerMs: number;
  /** Time from when the database accepts connections again to the first stored event. */
  readonly recoveryMs: number;
  /** Acknowledged events that are not stored exactly once: must be 0. */
  readonly lostOrDoubled: number;
}

const senders = 16;
const aroundMs = 3000;
/** Delay between the requests of a sender. */
const pauseMs = 20;

/** Stops PostgreSQL under load and starts it again after `outageMs`; the server keeps running. */
export async function measureOutage(outageMs: number): Promise<OutageResult | undefined> {
  const postgres = await LocalPostgres.create([]);
  if (typeof postgres === 'string') {
    console.warn(`NOT TRIED on PostgreSQL: ${postgres}.`);
    return undefined;
  }
  await postgres.query('postgres', 'create role actlog login');
  await postgres.query('postgres', 'create database outage owner actlog');
  const server = await ChildServer.start('actlog', postgres.url('outage', 'actlog'));
  const senderLog = new SenderLog(server);
  try {
    const sending = Array.from({ length: senders }, () => senderLog.sendUntilEnded());
    await setTimeout(aroundMs);
    await postgres.stop();
    senderLog.isOut = true;
    await setTimeout(outageMs);
    senderLog.isOut = false;
    await postgres.start();
    senderLog.startedAgain();
    await setTimeout(aroundMs * 2);
    senderLog.isEnded = true;
    await Promise.all(sending);
    const [stored] = await postgres.query<{ events: number }>(
      'outage',
      'select count(*)::int as events from events',
    );
    return senderLog.result(outageMs / 1000, stored?.events ?? 0);
  } finally {
    senderLog.isEnded = true;
    await server.stop();
    await postgres.destroy();
  }
}

/** Sends events and keeps the responses. Like a client, it sends an event again until it is acknowledged. */
class SenderLog {
  isOut = false;
  isEnded = false;
  readonly #server: ChildServer;
  readonly #nextBody = eventBodies(50);
  #acknowledged = 0;
  #refused = 0;
  #otherwise = 0;
  #slowestMs = 0;
  #startedAt = 0;
  #recoveryMs = Number.NaN;

  constructor(server: ChildServer) {
    this.#server = server;
  }

  async sendUntilEnded(): Promise<void> {
    for (let body = this.#nextBody(); ; body = this.#nextBody()) {
      // Waits for pending requests, so that all stored events are known.
      while (!(await this.#send(body))) await setTimeout(pauseMs);
      if (this.isEnded) return;
      await setTimeout(pauseMs);
    }
  }

  startedAgain(): void {
    this.#startedAt = performance.now();
  }

  result(outageSeconds: number, stored: number): OutageResult {
    return {
      outageSeconds,
      acknowledged: this.#acknowledged,
      refused: this.#refused,
      otherwise: this.#otherwise,
      slowestAnswerMs: this.#slowestMs,
      recoveryMs: this.#recoveryMs,
      lostOrDoubled: Math.abs(this.#acknowledged - stored),
    };
  }

  async #send(body: string): Promise<boolean> {
    const sentAt = performance.now();
    const response = await fetch(`${this.#server.url}/v1/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#server.apiKey}`, 'content-type': 'application/json' },
      body,
    }).catch(() => undefined);
    await response?.arrayBuffer().catch(() => {});
    if (this.isOut) this.#slowestMs = Math.max(this.#slowestMs, performance.now() - sentAt);
    if (response?.status === 202) {
      this.#acknowledged += 1;
      if (this.#startedAt > 0 && Number.isNaN(this.#recoveryMs)) {
        this.#recoveryMs = performance.now() - this.#startedAt;
      }
      return true;
    }
    if (response?.status === 503 && Number(response.headers.get('retry-after')) >= 1) this.#refused += 1;
    else this.#otherwise += 1;
    return false;
  }
}
