import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActionDeniedError } from '@actlog/recorder';
import {
  type AdapterCalls,
  createEventId,
  currentSessionId,
  DeniedRun,
  newSessionId,
  processWide,
} from '@actlog/recorder/adapter';
import { type BaseMessage, coerceMessageLikeToMessage } from '@langchain/core/messages';
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons';

/** Name of a graph that has none. */
const defaultName = 'LangGraph';

/** A running graph, which may be an agent. */
interface GraphRun {
  readonly name: string | undefined;
  /** Messages of its input. */
  readonly messages: unknown;
  /** Session that it was given, such as its thread. */
  readonly sessionId: string | undefined;
  /** Run that this one is a part of. */
  readonly outer: GraphRun | undefined;
  /** Sessions by recorder, for the outermost run. */
  readonly sessions: WeakMap<object, string>;
  /** Call whose tool started this run; undefined if none did. */
  readonly startedIn: object | undefined;
  /** Denials of its calls. */
  readonly denied: DeniedRun;
  /** Denial that ends the run. */
  denial: ActionDeniedError | undefined;
  /** Number of model calls since then. */
  endings: number;
}

const runs = processWide('@actlog/langchain/graph-runs', () => new AsyncLocalStorage<GraphRun>());

/** Sessions of a graph's run whose messages have no recorded call. */
interface RunIds {
  /** Returns the session of an earlier turn. */
  readonly earlier: () => string | undefined;
  /** Creates a session id that starts with the name of the graph. */
  readonly newId: () => string;
}

/** Runs a graph. */
export function asGraphRun<Result>(
  graph: { readonly name?: unknown },
  given: Pick<GraphRun, 'messages' | 'sessionId' | 'startedIn'>,
  run: () => Result,
): Result {
  const name = typeof graph.name === 'string' && graph.name !== defaultName ? graph.name : undefined;
  const outer = runs().getStore();
  const own = { sessions: new WeakMap(), denied: new DeniedRun(), denial: undefined, endings: 0 };
  return runs().run({ ...given, ...own, name, outer }, run);
}

/** Returns the running graphs, the innermost first. */
export function* runsAround(): Generator<GraphRun, void, void> {
  for (let run = runs().getStore(); run; run = run.outer) yield run;
}

/** Returns `true` while a graph runs. */
export function isInGraph(): boolean {
  return runs().getStore() !== undefined;
}

/** Returns the name of the innermost running graph that has one. */
function currentGraphName(): string | undefined {
  let run = runs().getStore();
  while (run && !run.name) run = run.outer;
  return run?.name;
}

/** Returns the names of the running graphs around the innermost named one, the nearest first. */
export function outerGraphNames(): string[] {
  const names = [...runsAround()].flatMap(({ name }) => (name ? [name] : []));
  return [...new Set(names.slice(1))];
}

/**
 * Returns the session of all calls of the outermost running graph, whose agents may each have different messages.
 *
 * @param messages - messages of the innermost graph
 * @param find - returns the session of a conversation
 */
function sessionOfGraphRun(
  { recorder, conversations }: AdapterCalls,
  messages: unknown,
  find: (messages: unknown, ids?: RunIds) => string | undefined,
): string | undefined {
  const innermost = runs().getStore();
  if (!innermost) return find(messages);
  const outermost = outermostOf(innermost);
  const known = outermost.sessionId ?? outermost.sessions.get(recorder);
  if (known !== undefined) return known;
  const own = (outermost === innermost ? messages : undefined) ?? inputOf(outermost);
  const newId = () => newSessionId(outermost.name);
  // LangGraph copies messages that are not objects of LangChain.
  const earlier = () => conversations.earlierSessionOf(outermost.messages);
  const session = find(own, { earlier, newId }) ?? newId();
  conversations.noteTurn(outermost.messages, session);
  outermost.sessions.set(recorder, session);
  return session;
}

/** Returns the messages in the input of a run; undefined if they are not messages. */
function inputOf({ messages }: GraphRun): unknown {
  try {
    return coercedMessages(messages);
  } catch {
    return undefined;
  }
}

/** Returns the input of the outermost running graph, if the innermost is a part of it. */
export function outerInput(): { readonly messages: unknown } | undefined {
  const outer = runs().getStore()?.outer;
  return outer && outermostOf(outer);
}

function outermostOf(run: GraphRun): GraphRun {
  return run.outer ? outermostOf(run.outer) : run;
}

/**
 * Returns the messages in the input of a run as objects of LangChain: new ones, except for those that are objects
 * already.
 *
 * @param messages - messages in any form, or a single one
 * @throws the error of LangChain when they are not messages
 */
export function coercedMessages(messages: unknown): BaseMessage[] {
  if (messages === undefined || messages === null) return [];
  const all: unknown[] = Array.isArray(messages) && !isPair(messages) ? messages : [messages];
  return all.map((message) => coerceMessageLikeToMessage(message as never));
}

/** Returns `true` for a single message of the form `['user', 'text']`. */
function isPair(messages: readonly unknown[]): boolean {
  return messages.length === 2 && messages.every((part) => typeof part === 'string');
}

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

/** Returns the id of a thread as text. Applications also use numbers, such as the id of a chat in a messenger. */
function threadId(value: unknown): string | undefined {
  return Number.isFinite(value) || typeof value === 'bigint' ? String(value) : text(value);
}

/**
 * Returns the session of a call: the thread, the run id chosen by the caller, or the session of the surrounding call or
 * `session.run`.
 */
export function sessionOf(run: RunContext | undefined): string | undefined {
  return givenSession(run) ?? currentSessionId();
}

/**
 * Returns the session that the caller of a run has chosen: its thread, the session of a `RunnableWithMessageHistory`, or
 * its run id.
 */
export function givenSession(run: RunContext | undefined): string | undefined {
  const { configurable, metadata } = run ?? {};
  const chosen = [configurable?.thread_id, metadata?.thread_id, configurable?.sessionId];
  return chosen.map(threadId).find(Boolean) ?? givenRunId(run);
}

function givenRunId(run: RunContext | undefined): string | undefined {
  const runId = text(run?.runId);
  return isGeneratedRunId(runId) ? undefined : runId;
}

/**
 * Returns the session of a call in an agent or a graph, from the first source that has one:
 *
 * 1. its run
 * 2. the outermost running graph
 * 3. an earlier call of the conversation
 * 4. the id of the first message, which LangGraph keeps while messages are added
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
 * Returns the configuration of a run of `streamEvents` with a run id. An id created by LangChain would look like one
 * that the caller has chosen for the session.
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
