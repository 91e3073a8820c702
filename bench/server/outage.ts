import { setTimeout } from 'node:timers/promises';
import { LocalPostgres } from '../../packages/server/tests/local-postgres.ts';
import { eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';

/** Experience of senders while the database is gone. */
export interface OutageResult {
  readonly outageSeconds: number;
  readonly acknowledged: number;
  /** Answers 503 that said when to come back. */
  readonly refused: number;
  /** Answers of any other kind, and requests with none: must be 0. */
  readonly otherwise: number;
  /** Longest time that a sender waited for a response while the database was gone. */
  readonly slowestAnswerMs: number;
  /** From the moment at which the database takes connections again to the first event that is stored. */
  readonly recoveryMs: number;
  /** Acknowledged events that are not stored once: must be 0. */
  readonly lostOrDoubled: number;
}

const senders = 16;
const aroundMs = 3000;
/** Between the requests of a sender. */
const pauseMs = 20;

/** Stops a PostgreSQL under load, starts it again after `outageMs`, and leaves the server alone all the while. */
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

/** Sends events and keeps what came back. An event is sent again until it is acknowledged, as a client would. */
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
      // What is under way is brought to its end, so that all that is stored is known to be.
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
