import {
  type AdapterCalls,
  Conversations,
  currentSessionId,
  newSessionId,
  SessionsById,
} from '@actlog/recorder/adapter';
import { getCurrentTrace, type Session, type Trace } from '@openai/agents';

/** Data that identifies the conversation of a run. */
export interface RunConversation {
  readonly input: unknown;
  readonly session?: Pick<Session, 'getSessionId'> | undefined;
  readonly conversationId?: string | undefined;
  /** Response that the run continues from. */
  readonly previousResponseId?: string | undefined;
  /** Group of the runner's traces, from its configuration. */
  readonly groupId?: string | undefined;
  /** Trace that surrounds the run, such as a workflow with several runs. */
  readonly workflow?: Trace | null | undefined;
  /** Name of the agent that the run starts with. */
  readonly agentName?: string | undefined;
  /** Recorder of the run's calls, if there is one for the run as a whole. */
  readonly calls?: AdapterCalls | undefined;
  /** Outer run. */
  readonly outer?: { sessionId(): Promise<string | undefined> } | undefined;
}

/** Conversations of runs that start with an agent that is not covered. */
const uncovered = new Conversations({});

/** Sessions of runs that may be resumed, by their state. */
const sessionsOfStates = new WeakMap<object, string>();

/** Sessions of traces without an id. */
const sessionsOfTraces = new WeakMap<Trace, string>();

/** Sessions of runs that another may continue from, by their last response. */
const sessionsOfResponses = new SessionsById('@actlog/openai-agents/responses');

/** Stores the session of a run that may be resumed, or continued from, in this process. */
export function keepSession(
  { state, lastResponseId }: { readonly state: object; readonly lastResponseId?: string | undefined },
  sessionId: string | undefined,
): void {
  if (sessionId) sessionsOfStates.set(state, sessionId);
  sessionsOfResponses.note(lastResponseId, sessionId);
}

/**
 * Returns the session of a run's calls, from the first source that has one:
 *
 * 1. the run's `session`, `conversationId` or trace group
 * 2. the outer run, or the run that it resumes
 * 3. the surrounding `session.run`
 * 4. the run whose response it continues from
 * 5. its messages
 * 6. the surrounding trace, or the trace of the run
 */
export async function sessionOf({
  input,
  session,
  conversationId,
  previousResponseId,
  groupId,
  workflow,
  agentName,
  calls,
  outer,
}: RunConversation): Promise<string | undefined> {
  const trace = getCurrentTrace();
  const given = (await session?.getSessionId()) || conversationId || groupId || trace?.groupId;
  if (given) return given;
  const resumed = typeof input === 'object' && input ? sessionsOfStates.get(input) : undefined;
  const former = currentSessionId() ?? sessionsOfResponses.get(previousResponseId);
  const known = (await outer?.sessionId()) ?? resumed ?? former;
  if (known !== undefined) return known;
  const newId = () => newSessionId(agentName);
  const conversation = (calls?.conversations ?? uncovered).sessionOf(
    input,
    Array.isArray(input) ? () => sessionOfTrace(workflow, newId) : undefined,
  );
  return conversation ?? sessionOfTrace(workflow ?? trace, newId); // a run works with copies of its traces
}

/** Returns the session of a trace. If tracing is off, the trace has no id, but is still one object for its runs. */
function sessionOfTrace(trace: Trace | null | undefined, newId: () => string): string {
  if (!trace) return newId();
  if (trace.traceId !== 'no-op') return trace.traceId;
  const sessionId = sessionsOfTraces.get(trace) ?? newId();
  sessionsOfTraces.set(trace, sessionId);
  return sessionId;
}
