import { currentSessionId } from '@actlog/recorder/adapter';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

/** What LangChain knows about the run that a tool call belongs to. */
export interface RunContext {
  readonly configurable?: Record<string, unknown> | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly runId?: string | undefined;
  readonly runName?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** The configuration of the run that is under way; LangChain carries it by AsyncLocalStorage. */
export function currentRun(): RunContext | undefined {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig() as RunContext | undefined;
}

/** The run of a tool that is invoked with a configuration: LangChain takes what that leaves out from the run under way. */
export function runWith(config: RunContext | undefined): RunContext {
  const given = Object.entries(config ?? {}).filter(([, value]) => value !== undefined);
  return { ...currentRun(), ...Object.fromEntries(given) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * The session of a call: the thread; else the run id that the caller chose; else that of the surrounding call or
 * `session.run`; else the first message, whose id LangGraph makes once and keeps for the whole conversation.
 */
export function sessionOf(run: RunContext | undefined, messages?: unknown): string | undefined {
  const first = Array.isArray(messages) ? (messages[0] as { id?: unknown } | undefined) : undefined;
  return (
    text(run?.configurable?.thread_id) ??
    text(run?.metadata?.thread_id) ??
    text(run?.runId) ??
    currentSessionId() ??
    text(first?.id)
  );
}

/** The name that `createAgent({name})` gave the agent, where it gave one. */
export function agentOf(run: RunContext | undefined): string | undefined {
  return text(run?.metadata?.lc_agent_name);
}
