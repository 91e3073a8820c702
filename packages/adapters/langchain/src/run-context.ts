import { type AdapterCalls, currentSessionId } from '@actlog/recorder/adapter';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

/** Context of the run that a tool call belongs to. */
export interface RunContext {
  readonly configurable?: Record<string, unknown> | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly runId?: string | undefined;
  readonly runName?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Returns the configuration of the current run, which LangChain keeps in AsyncLocalStorage. */
export function currentRun(): RunContext | undefined {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig() as RunContext | undefined;
}

/** Returns the run of a tool invoked with a configuration; LangChain takes missing properties from the current run. */
export function runWith(config: RunContext | undefined): RunContext {
  const given = Object.entries(config ?? {}).filter(([, value]) => value !== undefined);
  return { ...currentRun(), ...Object.fromEntries(given) };
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Returns the session of a call. In order of precedence: the thread; the run id chosen by the caller; that of the
 * surrounding call or `session.run`.
 */
export function sessionOf(run: RunContext | undefined): string | undefined {
  return (
    text(run?.configurable?.thread_id) ??
    text(run?.metadata?.thread_id) ??
    text(run?.runId) ??
    currentSessionId()
  );
}

/**
 * Returns the session of an agent's call. In order of precedence: that of its run; that of an earlier call of the
 * conversation; the first message, whose id LangGraph keeps while messages are added.
 */
export function conversationOf(
  run: RunContext | undefined,
  messages: unknown,
  { conversations }: AdapterCalls,
): string | undefined {
  const first = Array.isArray(messages) ? (messages[0] as { id?: unknown } | undefined) : undefined;
  return sessionOf(run) ?? conversations.sessionOf(messages, () => text(first?.id));
}

/** Returns the agent's name from `createAgent({name})`, if any. */
export function agentOf(run: RunContext | undefined): string | undefined {
  return text(run?.metadata?.lc_agent_name);
}
