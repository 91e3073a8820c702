import { lstatSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, ownIdentity, responseStatuses, type SpoolWriter } from '@actlog/recorder/short-lived';
import { type CallFacts, type CallName, callFileName } from './open-call.ts';
import { namesIn, OpenCalls } from './open-calls.ts';

/** Age after which a call counts as ended if the process of its agent is unknown, in milliseconds. */
const unknownOwnerMs = 24 * 60 * 60_000;

/**
 * Records the calls of agents that were killed as ended without a result.
 *
 * @param agentFolder - folder of an agent's sessions
 */
export function recordAbandonedCalls(agentFolder: string, spool: SpoolWriter, nowMs: number): void {
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
