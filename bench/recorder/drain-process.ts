// Sends many events as fast as the sink accepts them: `WHO URL EVENTS CONNECTIONS`, where WHO is `actlog` or `bare`, a
// loop of undici's `pool.request` over as many connections with the same bodies.
import { Recorder } from '@actlog/recorder';
import { Pool } from 'undici';
import { watchStalls } from './stalls.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Cost of a drain. */
export interface DrainCost {
  readonly eventsPerSecond: number;
  readonly cpuUs: number;
  readonly longestStallMs: number;
  readonly peakRssMb: number;
}

const [who, url = '', eventCount = '0', connectionCount = '1'] = process.argv.slice(2);
const events = Number(eventCount);
const connections = Number(connectionCount);
const sessions = 200;

const body = JSON.stringify({
  eventId: '0199e3a5-7c00-7000-8000-000000000000',
  agentId: 'benchmark',
  sessionId: 'session-100',
  sourceTimestamp: '2026-01-01T00:00:00.000Z',
  category: 'tool_api',
  schemaVersion: '1.0',
  payload: { toolName: 'search', argumentsHash: `sha256:${'0'.repeat(64)}`, responseStatus: 200 },
});
const headers = {
  authorization: 'Bearer al_test_benchmark',
  'content-type': 'application/json',
  'x-service-sdk': '@actlog/recorder/0.0.0 @actlog/client/0.0.0',
};

async function loadRecorder(): Promise<() => Promise<unknown>> {
  const recorder = new Recorder({
    apiKey: 'al_test_benchmark',
    baseURL: url,
    agentId: 'benchmark',
    concurrency: connections,
    spoolDir: temporaryFolder(),
  });
  // The first event loads undici, which the other side has loaded already.
  recorder.record({ toolName: 'search', argumentsHash: 'sha256:0', responseStatus: 200 });
  await recorder.flush();
  for (let index = 1; index < events; index += 1) {
    recorder.record({
      toolName: 'search',
      argumentsHash: `sha256:${'0'.repeat(64)}`,
      responseStatus: 200,
      sessionId: `session-${index % sessions}`,
    });
  }
  return async () => {
    const { delivered } = await recorder.flush({ timeoutMs: 600_000 });
    if (delivered !== events) throw new Error(`${delivered} of ${events} were delivered.`);
  };
}

function loadBare(): () => Promise<unknown> {
  const pool = new Pool(url, { connections });
  let left = events;
  const worker = async () => {
    while (left > 0) {
      left -= 1;
      const answer = await pool.request({ path: '/v1/events', method: 'POST', headers, body });
      await answer.body.dump();
    }
  };
  return () => Promise.all(Array.from({ length: connections }, worker));
}

const drain = who === 'actlog' ? await loadRecorder() : loadBare();
globalThis.gc?.(); // garbage from loading is not part of the drain
const stalls = watchStalls();
const cpuBefore = process.cpuUsage();
const startedAt = performance.now();
await drain();
const seconds = (performance.now() - startedAt) / 1000;
const { user, system } = process.cpuUsage(cpuBefore);
process.send?.({
  eventsPerSecond: events / seconds,
  cpuUs: (user + system) / events,
  longestStallMs: stalls.stop(),
  peakRssMb: process.resourceUsage().maxRSS / 1024,
} satisfies DrainCost);
process.exit();
