import { randomUUID } from 'node:crypto';
import { conversationSession } from '@actlog/recorder/adapter';
import { getCurrentTrace, type Session } from '@openai/agents';

/** What a run is told about the conversation that it belongs to. */
export interface RunConversation {
  readonly input: unknown;
  readonly session?: Pick<Session, 'getSessionId'> | undefined;
  readonly conversationId?: string | undefined;
  /** Of the runner's configuration: the conversation of its traces. */
  readonly groupId?: string | undefined;
  /** The run within which this one runs. */
  readonly outer?: { sessionId(): Promise<string | undefined> } | undefined;
}

/** Sessions of runs that may be resumed, by their state. */
const sessionsOfStates = new WeakMap<object, string>();

/** Keeps the session of a run for when it is resumed in this process. */
export function keepSession(state: object | undefined, sessionId: string | undefined): void {
  if (state && sessionId) sessionsOfStates.set(state, sessionId);
}

/**
 * The session of a run's calls: the run's `session`, `conversationId` or trace group; else that of the run around it,
 * or of the run that it resumes; else that of the surrounding `session.run`; else one for the conversation, which is
 * the trace where there is nothing else to know it by.
 */
export async function sessionOf({
  input,
  session,
  conversationId,
  groupId,
  outer,
}: RunConversation): Promise<string | undefined> {
  const trace = getCurrentTrace();
  const given = (await session?.getSessionId()) || conversationId || groupId || trace?.groupId;
  if (given) return given;
  const resumed = typeof input === 'object' && input ? sessionsOfStates.get(input) : undefined;
  const known = (await outer?.sessionId()) ?? resumed ?? conversationSession(input);
  return known ?? (trace && trace.traceId !== 'no-op' ? trace.traceId : randomUUID());
}
