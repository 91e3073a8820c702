import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Actlog } from '@actlog/client';
import { median } from '../measure/interleaved-rounds.ts';
import { agentIds, eventBodies } from './bodies.ts';
import { ChildServer } from './child-server.ts';
import { load } from './load.ts';

/** Processor time of an event with and without its entry in the log. */
export interface LogResult {
  readonly eventsPerSecond: number;
  readonly unloggedEventsPerSecond: number;
  readonly cpuMicros: number;
  readonly unloggedCpuMicros: number;
  /** Ratio within a turn; the limit is 1.05. */
  readonly cpuRatio: number;
  /** Longest time from the last event of a round until its entry was signed, in milliseconds. */
  readonly lagMs: number;
}

/** Options of the measurement. */
export interface LogOptions {
  readonly connections: number;
  readonly processes: number;
  readonly rounds: number;
  readonly roundMs: number;
}

interface Round {
  readonly eventsPerSecond: number;
  readonly cpuMicros: number;
  readonly lagMs: number;
}

/** Time until the code is fully compiled, in milliseconds. */
const warmUpMs = 6000;

/** A server that appends to its log, and one that does not. */
class Pair {
  readonly #folder = mkdtempSync(join(tmpdir(), 'actlog-bench-'));
  readonly #nextBody = eventBodies(50, 7);
  readonly #servers: ChildServer[] = [];
  readonly #connections: number;
  /** Entries of the log that are not of events of the rounds. */
  #size = 0;

  constructor(connections: number) {
    this.#connections = connections;
  }

  async start(): Promise<void> {
    for (const kind of ['actlog', 'unlogged'] as const) {
      const server = await ChildServer.start(kind, join(this.#folder, `${kind}.db`));
      this.#servers.push(server);
      const client = new Actlog({ baseURL: server.url, apiKey: server.apiKey });
      for (const id of agentIds) await client.agents.create({ id, name: id });
    }
    await setTimeout(2000);
    this.#size = await this.#logSize();
    await this.turn(warmUpMs);
  }

  async turn(roundMs: number): Promise<{ readonly logged: Round; readonly unlogged: Round }> {
    const [logged, unlogged] = this.#servers as [ChildServer, ChildServer];
    return {
      logged: await this.#round(logged, roundMs, true),
      unlogged: await this.#round(unlogged, roundMs, false),
    };
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await server.stop();
    rmSync(this.#folder, { recursive: true });
  }

  async #round(server: ChildServer, durationMs: number, isLogged: boolean): Promise<Round> {
    const { url, apiKey } = server;
    const before = await server.usage();
    const options = { url, apiKey, connections: this.#connections, durationMs, nextBody: this.#nextBody };
    const { requests, requestsPerSecond } = await load(options);
    const endedMs = performance.now();
    if (isLogged) {
      this.#size += requests;
      while ((await this.#logSize()) < this.#size) await setTimeout(50);
    } else {
      // Sessions are scored meanwhile, as beside the log.
      await setTimeout(1000);
    }
    const lagMs = performance.now() - endedMs;
    const after = await server.usage();
    return {
      eventsPerSecond: requestsPerSecond,
      cpuMicros: (after.cpuMicros - before.cpuMicros) / requests,
      lagMs,
    };
  }

  async #logSize(): Promise<number> {
    const response = await fetch(`${this.#servers[0]?.url}/log/default/checkpoint`);
    return Number((await response.text()).split('\n')[1]);
  }
}

/** Measures ingest with and without the log in interleaved turns, until every event of a round has its entry. */
export async function measureLog({
  connections,
  processes,
  rounds,
  roundMs,
}: LogOptions): Promise<LogResult> {
  const pairs: Pair[] = [];
  const turns: Awaited<ReturnType<Pair['turn']>>[] = [];
  try {
    for (let index = 0; index < processes; index += 1) {
      const pair = new Pair(connections);
      pairs.push(pair);
      await pair.start();
    }
    for (let index = 0; index < rounds; index += 1) {
      for (const pair of pairs) turns.push(await pair.turn(roundMs));
    }
  } finally {
    for (const pair of pairs) await pair.stop();
  }
  return {
    eventsPerSecond: median(turns.map(({ logged }) => logged.eventsPerSecond)),
    unloggedEventsPerSecond: median(turns.map(({ unlogged }) => unlogged.eventsPerSecond)),
    cpuMicros: median(turns.map(({ logged }) => logged.cpuMicros)),
    unloggedCpuMicros: median(turns.map(({ unlogged }) => unlogged.cpuMicros)),
    cpuRatio: median(turns.map(({ logged, unlogged }) => logged.cpuMicros / unlogged.cpuMicros)),
    lagMs: Math.max(...turns.map(({ logged }) => logged.lagMs)),
  };
}
