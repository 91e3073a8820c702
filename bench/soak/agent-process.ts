// A long-running agent with conversations of a few calls, bursts, errors, and occasionally large arguments: `URL SPOOL`.
// It reports its health on request, and ends on request.
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Recorder } from '@actlog/recorder';
import { argumentsOf } from '../recorder/arguments.ts';

/** Health of the agent. */
export interface AgentHealth {
  readonly recorded: number;
  readonly delivered: number;
  readonly pending: number;
  readonly dropped: number;
  readonly deadLettered: number;
  readonly retried: number;
  readonly spoolBytes: number;
  /** After a full garbage collection. */
  readonly heapMb: number;
  readonly rssMb: number;
  /** Open file descriptors; 0 if the system does not report them. */
  readonly descriptors: number;
  /** Resources that keep the event loop alive: sockets, timers, requests. */
  readonly resources: number;
}

const [url = '', spoolDir = ''] = process.argv.slice(2);
const recorder = new Recorder({
  apiKey: 'al_test_benchmark',
  baseURL: url,
  agentId: 'benchmark',
  spoolDir,
  onError: () => {},
});
let isWorking = true;
let calls = 0;

async function tool(number: number): Promise<string> {
  if (number % 20 === 0) throw Object.assign(new Error('not found'), { status: 404 });
  return 'ok';
}

function call(sessionId: string): Promise<unknown> {
  calls += 1;
  const number = calls;
  const args = number % 500 === 0 ? { text: 'x'.repeat(200_000) } : argumentsOf(number);
  return recorder.toolCall({ toolName: `call-${number}`, arguments: args, sessionId }, () => tool(number));
}

/** A conversation: a few calls, a moment apart, and one call that is only reported. */
async function converse(): Promise<void> {
  const session = recorder.session();
  for (let turn = 0; turn < 8 && isWorking; turn += 1) {
    await call(session.id).catch(() => {});
    await delay(100);
  }
  session.record({ toolName: 'summary', argumentsHash: 'sha256:0', responseStatus: 200 });
}

async function burst(): Promise<void> {
  const all = Array.from({ length: 400 }, (_, index) => call(`burst-${index % 40}`).catch(() => {}));
  await Promise.all(all);
}

async function work(): Promise<void> {
  for (let round = 0; isWorking; round += 1) {
    await Promise.all([converse(), converse(), converse(), round % 5 === 0 ? burst() : undefined]);
  }
}

async function health(): Promise<AgentHealth> {
  // Twice, with a turn in between: the second collects what the first finalizes.
  globalThis.gc?.();
  await delay(50);
  globalThis.gc?.();
  const { heapUsed, rss } = process.memoryUsage();
  const { recorded, delivered, pending, dropped, deadLettered, retried, spoolBytes } = recorder.stats();
  const descriptors = process.platform === 'linux' ? readdirSync('/proc/self/fd').length : 0;
  return {
    recorded,
    delivered,
    pending,
    dropped,
    deadLettered,
    retried,
    spoolBytes,
    heapMb: heapUsed / 2 ** 20,
    rssMb: rss / 2 ** 20,
    descriptors,
    resources: process.getActiveResourcesInfo().length,
  };
}

let working: Promise<void> | undefined;
process.on('message', async (word: 'health' | 'work' | 'rest' | 'end') => {
  if (word === 'work') working ??= work();
  if (word === 'rest') {
    isWorking = false;
    await working;
    await recorder.flush({ timeoutMs: 120_000 });
  }
  if (word === 'end') await recorder.close();
  process.send?.(await health());
  if (word === 'end') process.disconnect();
});
