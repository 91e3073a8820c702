import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Actlog } from '@actlog/client';
import { Agent, request } from 'undici';
import { measureImports } from './measure/import-time.ts';
import { interleave, type Measured } from './measure/interleaved-rounds.ts';

/** One-line description of this benchmark. */
export const description =
  'The client against bare undici.request: CPU per call, rate of iteration, memory, and time to import';

const apiKey = 'al_test_benchmark';
const sessionCount = 100_000;
const pageSize = 200;
const callsPerRound = 1_500;
const concurrency = 16;

/** Work of one side of a comparison: a bare loop or the client. */
type Work = () => Promise<unknown>;

/** Runs the calls with limited concurrency. */
async function inParallel(work: Work): Promise<void> {
  let left = callsPerRound;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}

/** Returns the microseconds of CPU per call. */
async function cpuPerCall(work: Work): Promise<number> {
  const before = process.cpuUsage();
  await inParallel(work);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / callsPerRound;
}

/** Returns the items per second. */
async function itemRate(iterate: () => Promise<number>): Promise<number> {
  const startedAt = performance.now();
  const items = await iterate();
  if (items !== sessionCount) throw new Error(`${items} items instead of ${sessionCount}`);
  return items / ((performance.now() - startedAt) / 1000);
}

function bareCalls(origin: string, dispatcher: Agent) {
  const headers = { authorization: `Bearer ${apiKey}`, 'x-service-sdk': 'bare' };
  return {
    read: async () => {
      const { body } = await request(`${origin}/v1/agents/agt_1`, { dispatcher, headers });
      return body.json();
    },
    send: async () => {
      const { body } = await request(`${origin}/v1/events`, {
        dispatcher,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body: JSON.stringify({
          eventId: randomUUID(),
          sourceTimestamp: new Date().toISOString(),
          schemaVersion: '1.0',
          ...event,
        }),
      });
      return body.json();
    },
    iterate: async () => {
      let items = 0;
      let cursor: string | null = '';
      while (cursor !== null) {
        const query: string = cursor === '' ? '' : `&cursor=${cursor}`;
        const { body } = await request(`${origin}/v1/sessions?limit=${pageSize}${query}`, {
          dispatcher,
          headers,
        });
        const page = (await body.json()) as { items: unknown[]; nextCursor: string | null };
        for (const _item of page.items) items += 1;
        cursor = page.nextCursor;
      }
      return items;
    },
  };
}

const event = {
  agentId: 'agt_1',
  sessionId: 'session-1',
  category: 'tool_api',
  payload: { toolName: 'search', argumentsHash: `sha256:${'0'.repeat(64)}`, responseStatus: 200 },
};

function clientCalls(client: Actlog) {
  const iterate = (prefetch: boolean) => async () => {
    let items = 0;
    for await (const _session of client.sessions.list({ limit: pageSize }, { prefetch })) items += 1;
    return items;
  };
  return {
    read: () => client.agents.get('agt_1'),
    send: () => client.events.create(event),
    iterate: iterate(false),
    prefetch: iterate(true),
  };
}

/** Returns the heap bytes retained after each full iteration; constant if memory does not grow. */
async function retainedBytes(iterate: () => Promise<number>): Promise<number[]> {
  const sizes: number[] = [];
  for (let round = 0; round < 4; round += 1) {
    await iterate();
    globalThis.gc?.();
    sizes.push(process.memoryUsage().heapUsed);
  }
  return sizes.map((size) => size - (sizes[0] ?? 0));
}

async function startServer(): Promise<{ origin: string; server: ChildProcess }> {
  const file = fileURLToPath(new URL('./measure/fixed-response-server.ts', import.meta.url));
  const server = fork(file, [String(sessionCount), String(pageSize)]);
  const [port] = await once(server, 'message');
  return { origin: `http://127.0.0.1:${port}`, server };
}

const ratio = (measured: Measured, limit: string) => ({ ...measured, limit });

/** Runs the benchmark; `--json` omits the table. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const { origin, server } = await startServer();
  const dispatcher = new Agent({ connections: 256, allowH2: false });
  try {
    const bare = bareCalls(origin, dispatcher);
    const ours = clientCalls(new Actlog({ apiKey, baseURL: origin, dispatcher }));
    const rounds = args.includes('--quick') ? 3 : 15;
    const read = await interleave(
      rounds,
      () => cpuPerCall(bare.read),
      () => cpuPerCall(ours.read),
    );
    const send = await interleave(
      rounds,
      () => cpuPerCall(bare.send),
      () => cpuPerCall(ours.send),
    );
    const items = await interleave(
      Math.ceil(rounds / 2),
      () => itemRate(bare.iterate),
      () => itemRate(ours.iterate),
    );
    const ahead = await interleave(
      Math.ceil(rounds / 2),
      () => itemRate(bare.iterate),
      () => itemRate(ours.prefetch),
    );
    const result = {
      cpuPerRead: ratio(read, 'ratio at most 1.25'),
      cpuPerEvent: ratio(send, 'ratio at most 1.25'),
      itemsPerSecond: ratio(items, 'ratio at least 0.85'),
      itemsPerSecondPrefetched: ratio(ahead, 'ratio at least 0.85'),
      retainedBytesAfterEachIteration: await retainedBytes(ours.iterate),
      importMs: await measureImports(rounds),
    };
    if (!args.includes('--json')) print(result);
    return result;
  } finally {
    server.kill();
    await dispatcher.close();
  }
}

function print({
  retainedBytesAfterEachIteration,
  importMs,
  ...compared
}: Awaited<ReturnType<typeof run>>): void {
  console.table(compared);
  console.table(importMs);
  console.log(`bytes retained after each iteration: ${String(retainedBytesAfterEachIteration)}`);
}
