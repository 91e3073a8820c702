import { AsyncLocalStorage } from 'node:async_hooks';
import type { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, DeniedRun, newSessionId, processWide } from '@actlog/recorder/adapter';
import { type BaseMessage, coerceMessageLikeToMessage } from '@langchain/core/messages';

/** Name of a graph that has none. */
const defaultName = 'LangGraph';

/** A running graph. An agent is one, too. */
export interface GraphRun {
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
export interface RunIds {
  /** Returns that of an earlier turn. */
  readonly earlier: () => string | undefined;
  /** Creates one that is named by the graph. */
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
export function currentGraphName(): string | undefined {
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
 * Returns the session of all calls of the outermost running graph, whose agents may each have messages of their own.
 *
 * @param messages - messages of the innermost graph
 * @param find - returns the session of a conversation
 */
export function sessionOfGraphRun(
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
