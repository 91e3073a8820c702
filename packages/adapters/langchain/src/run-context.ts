import { type AdapterCalls, createEventId, currentSessionId, processWide } from '@actlog/recorder/adapter';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';
import { currentGraphName, type RunIds, sessionOfGraphRun } from './graph-runs.ts';

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
  return givenSession(run) ?? currentSessionId();
}

/** Returns the session that the caller of a run has chosen: its thread or its run id. */
export function givenSession(run: RunContext | undefined): string | undefined {
  return text(run?.configurable?.thread_id) ?? text(run?.metadata?.thread_id) ?? givenRunId(run);
}

function givenRunId(run: RunContext | undefined): string | undefined {
  const runId = text(run?.runId);
  return isGeneratedRunId(runId) ? undefined : runId;
}

/**
 * Returns the session of a call in an agent or a graph. In order of precedence: that of its run; that of the outermost
 * running graph, which is that of an earlier call of the conversation, or the first message, whose id LangGraph keeps
 * while messages are added.
 *
 * @param messages - messages of the innermost graph
 */
export function conversationOf(
  run: RunContext | undefined,
  messages: unknown,
  calls: AdapterCalls,
): string | undefined {
  const find = (all: unknown, ids?: RunIds) => {
    const first = Array.isArray(all) ? (all[0] as { id?: unknown } | null | undefined) : undefined;
    return calls.conversations.sessionOf(all, () => ids?.earlier() ?? text(first?.id) ?? ids?.newId());
  };
  return sessionOf(run) ?? sessionOfGraphRun(calls, messages, find);
}

/** Returns the messages in the input of the current node of a graph. */
export function nodeMessages(run: RunContext | undefined): unknown {
  const scratchpad = run?.configurable?.__pregel_scratchpad as
    | { readonly currentTaskInput?: unknown }
    | undefined;
  const messages = messagesOf(scratchpad?.currentTaskInput);
  // The input of a task of the functional API is the list of its arguments.
  return Array.isArray(messages) && !messages.every(isMessage) ? undefined : messages;
}

function isMessage(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'content' in value;
}

/** Returns the messages in the state of a graph, or in the input of a run. */
export function messagesOf(state: unknown): unknown {
  return Array.isArray(state)
    ? state
    : (state as { readonly messages?: unknown } | null | undefined)?.messages;
}

/**
 * Returns the name of the agent or the graph that makes a call: the innermost that has one.
 *
 * @param run - run of the call, for graphs that are not hooked
 */
export function agentOf(run: RunContext | undefined): string | undefined {
  return currentGraphName() ?? text(run?.metadata?.lc_agent_name);
}

/** Maximum number of ids to remember; each is looked up when its run starts. */
const maxIds = 1000;

const ids = processWide('@actlog/langchain/generated-run-ids', () => new Set<string>());

/**
 * Returns the configuration of a run of `streamEvents` with a run id. LangChain would create one itself, which could not
 * be told from an id that the caller has chosen for the session.
 */
export function withGeneratedRunId<Config extends { readonly runId?: string | undefined }>(
  config: Config | undefined,
): Config | undefined {
  const { runId, version } = (config ?? {}) as { runId?: unknown; version?: unknown };
  // Version 3 does not create an id.
  if (runId !== undefined || (version !== 'v1' && version !== 'v2')) return config;
  const generated = createEventId(Date.now());
  ids().add(generated);
  if (ids().size > maxIds) ids().delete(ids().values().next().value as string);
  return { ...config, runId: generated } as Config;
}

/** Returns `true` for a run id that the caller has not chosen. */
function isGeneratedRunId(runId: string | undefined): boolean {
  return runId !== undefined && ids().has(runId);
}
