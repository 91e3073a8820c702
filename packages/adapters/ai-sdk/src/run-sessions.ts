import { processWide } from '@actlog/recorder/adapter';

/** Runs to remember, at most: a run that fails in a step tells nothing of its end. */
const maxRuns = 10_000;

const sessions = processWide('@actlog/ai-sdk/run-sessions', () => new Map<string, string | undefined>());

/** Keeps the session of a run, which is told where its messages are and asked for where its steps are. */
export function keepSession(callId: string, sessionId: string | undefined): void {
  sessions().set(callId, sessionId);
  if (sessions().size > maxRuns) sessions().delete(sessions().keys().next().value as string);
}

/** The session of the run that a step belongs to; only `ai` 7 tells the id of that. */
export function sessionOfRun(callId: string | undefined): string | undefined {
  return callId === undefined ? undefined : sessions().get(callId);
}
