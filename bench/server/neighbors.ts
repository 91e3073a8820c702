import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { median } from '../measure/interleaved-rounds.ts';
import { eventBodies } from './bodies.ts';
import { type Sent, send } from './send.ts';
import { type WorstTenant, worstPolicies, worstTenants } from './worst-tenants.ts';

/** Limits of a quiet tenant's request: a multiple of its time alone, or an absolute time in ms. */
const bound = { ratio: 2, ms: 20 };

/** Callers of the other tenant. */
const connections = 32;

/** Milliseconds between the requests of the quiet tenant. */
const pauseMs = 4;

/** Times of one kind of request of the quiet tenant beside the other tenant. */
export interface NeighborResult {
  readonly aloneP50Ms: number;
  readonly aloneP99Ms: number;
  readonly besideP50Ms: number;
  readonly besideP99Ms: number;
  readonly ratio: number;
  /** `FAIL` if both limits are exceeded. */
  readonly verdict: 'ok' | 'FAIL';
  /** Responses to the other tenant per second. */
  readonly besideResponses: number;
}

interface Latencies {
  readonly check: number[];
  readonly ingest: number[];
}

/**
 * Measures checks and events of a quiet tenant alone and beside a tenant with the most expensive work that its budget
 * allows, in turns; returns medians of the rounds.
 */
export async function measureNeighbors(
  rounds: number,
  roundMs: number,
): Promise<Record<string, NeighborResult>> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-neighbors-'));
  const server = start('neighbors-server-process.ts', join(folder, 'bench.db'), 'quiet', ...worstTenants);
  try {
    const [{ url, keys }] = (await once(server, 'message')) as [
      { url: string; keys: Record<string, string> },
    ];
    const quiet = new QuietTenant(url, keys.quiet as string);
    await quiet.prepare();
    await quiet.measure(roundMs);
    const result: Record<string, NeighborResult> = {};
    for (const tenant of worstTenants) {
      Object.assign(result, await beside(tenant, quiet, url, keys[tenant] as string, rounds, roundMs));
    }
    if (Object.values(result).some(({ verdict }) => verdict === 'FAIL')) process.exitCode = 1;
    return result;
  } finally {
    await stop(server);
    rmSync(folder, { recursive: true });
  }
}

async function beside(
  tenant: WorstTenant,
  quiet: QuietTenant,
  url: string,
  apiKey: string,
  rounds: number,
  roundMs: number,
): Promise<Record<string, NeighborResult>> {
  const ids = await createPolicies(tenant, url, apiKey);
  const noise = start(
    'noisy-neighbor-process.ts',
    url,
    apiKey,
    tenant,
    String(connections),
    ...ids.slice(0, 50),
  );
  try {
    await once(noise, 'message');
    const alone: Latencies[] = [];
    const together: Latencies[] = [];
    let answered = 0;
    for (let round = 0; round < rounds; round += 1) {
      alone.push(await quiet.measure(roundMs));
      noise.send('start');
      await setTimeout(500);
      together.push(await quiet.measure(roundMs));
      const told = once(noise, 'message');
      noise.send('stop');
      answered = ((await told) as [number])[0];
      await once(noise, 'message');
    }
    const kinds = ['check', 'ingest'] as const;
    return Object.fromEntries(
      kinds.map((kind) => {
        const of = (all: readonly Latencies[], share: number) =>
          Number(median(all.map((each) => quantile(each[kind], share))).toFixed(2));
        const [aloneP99Ms, besideP99Ms] = [of(alone, 0.99), of(together, 0.99)];
        const ratio = Number((besideP99Ms / aloneP99Ms).toFixed(2));
        const verdict = ratio <= bound.ratio || besideP99Ms <= bound.ms ? 'ok' : 'FAIL';
        const measured: NeighborResult = {
          aloneP50Ms: of(alone, 0.5),
          aloneP99Ms,
          besideP50Ms: of(together, 0.5),
          besideP99Ms,
          ratio,
          verdict,
          besideResponses: Math.round((answered / (roundMs + 500)) * 1000),
        };
        return [`${kind} beside ${tenant}`, measured];
      }),
    );
  } finally {
    await stop(noise);
  }
}

/** Creates the policies of a tenant until the service refuses one. */
async function createPolicies(tenant: WorstTenant, url: string, apiKey: string): Promise<string[]> {
  const { body, most } = worstPolicies(tenant);
  const agent = new Agent({ keepAlive: true });
  const sent: Sent = { method: 'POST', path: '/v1/policies', body: JSON.stringify(body) };
  const ids: string[] = [];
  while (ids.length < most) {
    const response = await send({ url, apiKey, agent, ...sent });
    if (response.status !== 201) break;
    ids.push((JSON.parse(response.body) as { id: string }).id);
  }
  agent.destroy();
  if (ids.length === 0) throw new Error(`The policies of ${tenant} are refused.`);
  return ids;
}

/** A tenant with a few ordinary policies that occasionally sends a check and an event. */
class QuietTenant {
  readonly #url: string;
  readonly #apiKey: string;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #nextEvent = eventBodies(50);

  constructor(url: string, apiKey: string) {
    this.#url = url;
    this.#apiKey = apiKey;
  }

  async prepare(): Promise<void> {
    for (let index = 0; index < 20; index += 1) {
      const policy = {
        name: `p${index}`,
        effect: 'deny',
        match: { tools: [`refund_${index}_*`, 'delete_*'] },
        condition: 'has(args.amount) && double(args.amount) > 500.0',
      };
      await this.#send('/v1/policies', JSON.stringify(policy), 201);
    }
  }

  async measure(durationMs: number): Promise<Latencies> {
    const endMs = performance.now() + durationMs;
    const latencies: Latencies = { check: [], ingest: [] };
    const repeat = async (into: number[], once: () => Promise<void>) => {
      while (performance.now() < endMs) {
        const startedMs = performance.now();
        await once();
        into.push(performance.now() - startedMs);
        await setTimeout(pauseMs);
      }
    };
    await Promise.all([
      repeat(latencies.check, () => this.#check()),
      repeat(latencies.ingest, () => this.#send('/v1/events', this.#nextEvent(), 202)),
    ]);
    return latencies;
  }

  #check(): Promise<void> {
    const action = { toolName: 'refund_order', argumentsHash: 'sha256:aa', arguments: { amount: 70 } };
    const body = { agentId: 'quiet', sessionId: 's', actionId: randomUUID(), action };
    return this.#send('/v1/policies/check', JSON.stringify(body), 200);
  }

  async #send(path: string, body: string, expected: number): Promise<void> {
    const sent = { url: this.#url, apiKey: this.#apiKey, agent: this.#agent };
    const { status, body: text } = await send({ ...sent, method: 'POST', path, body });
    if (status !== expected) throw new Error(`${path} answered ${status}: ${text}`);
  }
}

function start(file: string, ...args: string[]): ChildProcess {
  const program = fileURLToPath(import.meta.resolve(`./${file}`));
  return fork(program, args, { execArgv: [...process.execArgv, '--no-allocation-site-pretenuring'] });
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN;
}
