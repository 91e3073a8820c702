import { setTimeout as delay } from 'node:timers/promises';
import { Recorder } from '@actlog/recorder';
import { parseFolderName, SpoolWriter } from '@actlog/recorder/short-lived';
import type { AgentName } from './agents.ts';
import { recordAbandonedCalls } from './calls/abandoned-calls.ts';
import { namesIn } from './calls/open-calls.ts';
import { DeliveryProblem } from './delivery-problem.ts';
import { FlushLock } from './flush-lock.ts';
import { agentFolder } from './hook-folder.ts';
import { sdk, serviceOf } from './service.ts';

/** Time limit of one delivery, in milliseconds. What is left is delivered after a later call. */
const flushMs = 20_000;
/** Time for which further calls are awaited, so that a series of calls starts one process, in milliseconds. */
const lingerMs = 1_000;

/**
 * Delivers what hooks have written to the spool, and records the calls of agents that were killed. Ends when nothing more
 * comes, or when the service cannot be reached.
 */
export async function flush(agent: AgentName, spoolFolder: string): Promise<void> {
  const lock = new FlushLock(spoolFolder);
  // What is written after the lock is released starts another process; what was written before is seen here.
  while (lock.acquire()) {
    let isDelivered = false;
    try {
      recordAbandoned(agent, spoolFolder);
      isDelivered = await deliverAll(spoolFolder);
    } finally {
      lock.release();
    }
    if (!isDelivered || !hasReleased(spoolFolder)) return;
  }
}

/** Returns `true` if everything was delivered. */
async function deliverAll(spoolFolder: string): Promise<boolean> {
  do {
    if (!(await deliver(spoolFolder))) return false;
    await delay(lingerMs);
  } while (hasReleased(spoolFolder));
  return true;
}

async function deliver(spoolFolder: string): Promise<boolean> {
  const problem = new DeliveryProblem(spoolFolder);
  const blocked = Promise.withResolvers<void>();
  let isReported = false;
  const recorder: Recorder = new Recorder({
    guard: { mode: 'off' },
    onError: ({ message }) => {
      isReported = true;
      problem.write(message);
      // A rejected event holds up no other; anything else holds up all, so that the lock is better released.
      if (recorder.stats().deadLettered === 0) blocked.resolve();
    },
  });
  await Promise.race([recorder.flush({ timeoutMs: flushMs }), blocked.promise]);
  const { pending } = await recorder.close({ timeoutMs: 0 });
  if (!isReported && pending === 0) problem.clear();
  if (!isReported && pending > 0)
    problem.write('The service cannot be reached. Events are kept and retried.');
  return pending === 0;
}

function recordAbandoned(agent: AgentName, spoolFolder: string): void {
  const client = serviceOf(agent);
  if (!client) return;
  const spool = new SpoolWriter({ client, framework: agent, sdk, onError: () => {} });
  recordAbandonedCalls(agentFolder(spoolFolder, agent), spool, Date.now());
  spool.close();
}

/** Returns `true` if ended processes have left journals. */
function hasReleased(spoolFolder: string): boolean {
  return namesIn(spoolFolder).some(
    (name) => name.endsWith('.released') && parseFolderName(name.slice(0, -'.released'.length)) !== undefined,
  );
}
