import { AsyncLocalStorage } from 'node:async_hooks';
import { newSessionId, processWide } from '@actlog/recorder/adapter';

/** Sessions of running swarms and graphs. */
const sessions = processWide('@actlog/strands/orchestrator-sessions', () => new AsyncLocalStorage<string>());

/** Sessions of the last runs of swarms and graphs, which may be resumed. */
const lastSessions = processWide('@actlog/strands/last-sessions', () => new WeakMap<object, string>());

/** The used part of a swarm or graph. */
interface Orchestrator {
  readonly id?: unknown;
  readonly sessionManager?: { readonly sessionId?: unknown; readonly _sessionId?: unknown } | undefined;
}

/** Returns the session of the innermost running swarm or graph. */
export function orchestratorSession(): string | undefined {
  return sessions().getStore();
}

/**
 * Returns the session of a run that is about to begin: that of its session manager; that of the run that it resumes;
 * that of the swarm or graph around it; a new one.
 *
 * @param input - input of the run
 */
export function sessionOfRun(orchestrator: Orchestrator, input: unknown): string {
  const { id, sessionManager } = orchestrator;
  const managed = [sessionManager?.sessionId, sessionManager?._sessionId].find(
    (value) => typeof value === 'string' && value !== '',
  ) as string | undefined;
  const resumed = isResponse(input) ? lastSessions().get(orchestrator) : undefined;
  const name = typeof id === 'string' ? id : undefined;
  const sessionId = managed ?? resumed ?? orchestratorSession() ?? newSessionId(name);
  lastSessions().set(orchestrator, sessionId);
  return sessionId;
}

/** Returns `true` for responses to interrupts, with which a run is resumed. */
function isResponse(input: unknown): boolean {
  return (
    Array.isArray(input) &&
    input.some((part) => typeof part === 'object' && part !== null && 'interruptResponse' in part)
  );
}

/** Runs a step of a swarm or graph. */
export function inSession<Result>(sessionId: string, step: () => Result): Result {
  return sessions().run(sessionId, step);
}
