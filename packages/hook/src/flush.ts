import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Recorder } from '@actlog/recorder';
import {
  isAlive,
  ownIdentity,
  parseFolderName,
  responseStatuses,
  SpoolWriter,
} from '@actlog/recorder/short-lived';
import { type CallFacts, type CallName, callFileName, namesIn, OpenCalls } from './calls/open-calls.ts';
import type { AgentName } from './dialects/dialect.ts';
import { agentFolder, DeliveryProblem, FlushLock } from './hook-folder.ts';
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
    // Events are sent without the token, so this blocks none.
    onIdentityError: ({ message }) => {
      isReported = true;
      problem.write(message);
    },
    onError: ({ message }) => {
      isReported = true;
      problem.write(message);
      // A rejected event blocks no other event. Any other error blocks all, so release the lock.
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
  const client = serviceOf(agent, () => {});
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

/** Age after which a call counts as ended if the process of its agent is unknown, in milliseconds. */
const unknownOwnerMs = 24 * 60 * 60_000;

/**
 * Records the calls of agents that were killed as ended without a result.
 *
 * @param agentFolder - folder of an agent's sessions
 */
function recordAbandonedCalls(agentFolder: string, spool: SpoolWriter, nowMs: number): void {
  for (const session of namesIn(agentFolder)) {
    const folder = join(agentFolder, session);
    const calls = new OpenCalls(folder);
    for (const name of calls.find(({ state }) => state !== 'done')) {
      if (isAbandoned(calls, folder, name, nowMs)) record(calls, name, spool, nowMs);
    }
    const isForgotten = ageOf(folder, nowMs) > unknownOwnerMs;
    if (isForgotten && calls.find(({ state }) => state !== 'done').length === 0) calls.removeAll();
  }
}

function record(calls: OpenCalls, name: CallName, spool: SpoolWriter, nowMs: number): void {
  const claimed = calls.claim(name, responseStatuses.aborted);
  if (!claimed) return;
  const { agentId, sessionId, toolName, argumentsHash } = claimed.facts;
  const isWritten = spool.write({
    eventId: claimed.eventId,
    agentId,
    sessionId,
    toolName,
    argumentsHash,
    responseStatus: claimed.status,
    atMs: nowMs,
  });
  if (isWritten) calls.remove(claimed.name);
}

function isAbandoned(calls: OpenCalls, folder: string, name: CallName, nowMs: number): boolean {
  const owner = calls.facts(name)?.owner;
  const ageMs = ageOf(join(folder, callFileName(name)), nowMs);
  return isKnown(owner) ? !isAlive(owner, ageMs) : ageMs > unknownOwnerMs;
}

/** Returns `true` for a process of this machine, of which it is certain if it is alive. */
function isKnown(owner: CallFacts['owner']): owner is NonNullable<CallFacts['owner']> {
  return owner !== undefined && owner.machine === ownIdentity().machine;
}

function ageOf(path: string, nowMs: number): number {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats ? nowMs - stats.mtimeMs : 0;
}
