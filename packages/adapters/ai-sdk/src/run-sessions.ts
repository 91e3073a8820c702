import { processWide, SessionsById } from '@actlog/recorder/adapter';

/** Sessions of runs, stored when the messages are known and looked up when steps end. */
export const runSessions: SessionsById = new SessionsById('@actlog/ai-sdk/run-sessions');

/** Sessions of calls by their inputs, which the steps of the run contain as the same objects. */
const inputSessions = processWide('@actlog/ai-sdk/input-sessions', () => new WeakMap<object, string>());

/** Notes the session of a call that a wrapped tool runs. */
export function noteInputSession(input: unknown, sessionId: string | undefined): void {
  if (typeof input === 'object' && input !== null && sessionId !== undefined) {
    inputSessions().set(input, sessionId);
  }
}

/** Returns the session of a step's run, if it is known from telemetry, or from a call of this or an earlier step. */
export function sessionOfStep({
  callId,
  content,
}: {
  readonly callId?: string | undefined;
  readonly content: readonly unknown[];
}): string | undefined {
  const known = runSessions.get(callId);
  if (known !== undefined) return known;
  const inputs = content.map((part) => (part as { readonly input?: unknown }).input);
  const sessionId = inputs.map((input) => inputSessions().get(input as object)).find(Boolean);
  runSessions.note(callId, sessionId);
  return sessionId;
}
