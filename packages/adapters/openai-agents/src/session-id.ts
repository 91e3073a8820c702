import { randomUUID } from 'node:crypto';
import { conversationSession, currentSessionId, SessionsById } from '@actlog/recorder/adapter';
import { getCurrentTrace, type Session } from '@openai/agents';

/** What a run is told about the conversation that it belongs to. */
export interface RunConversation {
  readonly input: unknown;
  readonly session?: Pick<Session, 'getSessionId'> | undefined;
  readonly conversationId?: string | undefined;
  /** The response that the run goes on from. */
  readonly previousResponseId?: string | undefined;
  /** Of the runner's configuration: the conversation of its traces. */
  readonly groupId?: string | undefined;
  /** The run within which this one runs. */
  readonly outer?: { sessionId(): Promise<string | undefined> } | undefined;
}

/** Sessions of runs that may be resumed, by their state. */
const sessionsOfStates = new WeakMap<object, string>();

/** Sessions of runs that another may go on from, by their last response. */
const sessionsOfResponses = new SessionsById('@actlog/openai-agents/responses');

/** Keeps the session of a run for when it is resumed, or gone on from, in this process. */
export function keepSession(
  { state, lastResponseId }: { readonly state: object; readonly lastResponseId?: string | undefined },
  sessionId: string | undefined,
): void {
  if (sessionId) sessionsOfStates.set(state, sessionId);
  sessionsOfResponses.note(lastResponseId, sessionId);
}

/**
 * The session of a run's calls: the run's `session`, `conversationId` or trace group; else that of the run around it,
 * or of the run that it resumes; else that of the surrounding `session.run`; else that of the run whose response it goes
 * on from; else one for the conversation, which is the trace where there is nothing else to know it by.
 */
export async function sessionOf({
  input,
  session,
  conversationId,
  previousResponseId,
  groupId,
  outer,
}: RunConversation): Promise<string | undefined> {
  const trace = getCurrentTrace();
  const given = (await session?.getSessionId()) || conversationId || groupId || trace?.groupId;
  if (given) return given;
  const resumed = typeof input === 'object' && input ? sessionsOfStates.get(input) : undefined;
  const former = currentSessionId() ?? sessionsOfResponses.get(previousResponseId);
  const known = (await outer?.sessionId()) ?? resumed ?? former ?? conversationSession(input);
  return known ?? (trace && trace.traceId !== 'no-op' ? trace.traceId : randomUUID());
}
