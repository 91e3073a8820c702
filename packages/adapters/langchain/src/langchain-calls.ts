import { ActionDeniedError, type RunCall } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  MethodHooks,
  maxSameDenials,
  noteTexts,
  ProcessCoverage,
  toolContent,
  type Wrapping,
} from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import type { ClientTool } from '@langchain/core/tools';
import { isCommand } from '@langchain/langgraph';
import {
  asRecordedCall,
  errorMessage,
  innermostCall,
  isModelCall,
  outcomeOf,
  thrownByTool,
  toolOutcomeStatus,
} from './changed-call.ts';
import { requestingSession } from './requested-calls.ts';
import {
  agentOf,
  coercedMessages,
  conversationOf,
  nodeMessages,
  outerGraphNames,
  outerInput,
  type RunContext,
  runsAround,
  runWith,
} from './run-context.ts';

/** The used part of a message. */
interface AnyMessage {
  readonly type?: unknown;
  readonly content?: unknown;
  readonly additional_kwargs?: { readonly lc_source?: unknown } | undefined;
}

/**
 * Passes what the user and the developer wrote in messages of LangChain, for the origins of arguments.
 *
 * @param read - returns the messages, and the session of the calls
 */
export function rememberMessages(
  calls: AdapterCalls,
  read: () => { readonly messages: unknown; readonly sessionId: string | undefined },
): void {
  noteTexts(calls, () => {
    const { messages, sessionId } = read();
    // The input of a graph in a node of another may be a model's.
    const input = outerInput();
    const user = input ? inputContents(input) : contentsOf(messages, 'human');
    return { sessionId, user, system: contentsOf(messages, 'system') };
  });
}

/** Returns the contents of messages of a type. A summary, which middleware adds as a message of the user, is not one. */
export function contentsOf(messages: unknown, type: 'human' | 'system'): unknown[] {
  if (!Array.isArray(messages)) return [];
  return (messages as readonly (AnyMessage | null | undefined)[])
    .filter((message) => message?.type === type && message.additional_kwargs?.lc_source === undefined)
    .map((message) => message?.content);
}

/** Returns what the user wrote in the input of a run: its messages, in any form, or its text. */
export function inputContents(input: unknown): unknown[] {
  if (typeof input === 'string') return [input];
  const { messages, input: text } = (input ?? {}) as { messages?: unknown; input?: unknown };
  if (messages === undefined) return typeof text === 'string' ? [text] : [];
  return contentsOf(coercedMessages(messages), 'human');
}

/** Returns what the model sees of a tool's result: the content of its message. */
function shownResult(result: unknown): unknown {
  const message = isCommand(result) ? lastMessage(result) : result;
  return toolContent(ToolMessage.isInstance(message) ? message.content : message);
}

/** Returns the result message that a tool adds to the graph's state itself. */
function lastMessage({ update }: { readonly update?: unknown }): unknown {
  const { messages } = (update ?? {}) as { messages?: unknown };
  return [messages].flat().findLast((message) => ToolMessage.isInstance(message));
}

/** Version of this package; the release writes it. */
export const version = '0.0.0';

/** Methods of the framework's classes that this package replaces. */
export const hookedMethods: MethodHooks = new MethodHooks('@actlog/langchain/hooked-methods');

/** Creates the `AdapterCalls` of this adapter. */
export function langChainCalls(options: ActlogOptions): AdapterCalls {
  return new AdapterCalls(
    {
      framework: 'langchain',
      sdk: `@actlog/langchain/${version}`,
      form: 'middleware: [actlog({ guard })] or actlog.tools(tools, { guard })',
      optionNames: ['onToolError'],
      outcomeOf,
      statusOf: toolOutcomeStatus,
      thrownByTool,
      resultOf: shownResult,
    },
    options,
  );
}

/** A call in an agent or a graph. */
interface PlacedCall {
  readonly toolName: string;
  readonly callId: string | undefined;
  readonly run: RunContext;
  /** Messages before the call. */
  readonly messages: unknown;
}

/** Returns the properties of a call that LangChain provides, and remembers the call for later turns. */
export function surroundings(
  calls: AdapterCalls,
  { toolName, callId, run, messages }: PlacedCall,
): Pick<HookedCall, 'sessionId' | 'agentId' | 'parentAgentIds'> {
  const sessionId = conversationOf(run, messages, calls);
  if (callId !== undefined) calls.conversations.note(messages, { toolName, callId }, sessionId);
  return { sessionId, agentId: agentOf(run), parentAgentIds: outerGraphNames() };
}

/** Options of the adapter. All are optional. */
export interface ActlogOptions extends AdapterOptions {
  /**
   * Handling of errors thrown by tools: `message` reports them to the model, as LangChain does without middleware;
   * `throw` passes them to outer middleware, and ends the run if there is none. Default `message`.
   */
  readonly onToolError?: 'message' | 'throw' | undefined;
}

/** An invocation of a tool. */
interface Invocation {
  readonly input: unknown;
  readonly config: RunContext | undefined;
  /** Invokes the tool with the input, or with one that has changed arguments. */
  readonly run: (input: unknown) => unknown;
  readonly wrapping: Wrapping;
}

/** Records an invocation of a tool, and runs it if the guard allows it. */
export async function recordInvocation(
  tool: ClientTool,
  calls: AdapterCalls,
  { input, config, run, wrapping }: Invocation,
): Promise<unknown> {
  const modelCall = isModelCall(input) ? input : undefined;
  const current = runWith(config);
  const called = { toolName: tool.name, callId: modelCall?.id };
  const args = modelCall ? modelCall.args : input;
  const place = surroundings(calls, { ...called, run: current, messages: nodeMessages(current) });
  const call = {
    ...place,
    sessionId: place.sessionId ?? requestingSession({ name: tool.name, id: modelCall?.id, args }),
    ...called,
    arguments: args,
    wrapping,
    signal: current.signal,
    acceptsChanges: true,
  };
  const recorded = { ...call, calls, tool, runName: config?.runName };
  try {
    return await runCounted(calls, call, (given, change) => {
      const changed = modelCall ? { ...modelCall, args: given } : given;
      return asRecordedCall(recorded, () => run(change ? changed : input));
    });
  } catch (error) {
    if (!ActionDeniedError.isInstance(error) || !modelCall) throw error;
    return errorMessage(modelCall, error.message, error);
  }
}

/** Recorders of `actlog.install()`. */
export const processCoverage: ProcessCoverage = new ProcessCoverage('@actlog/langchain/installed');

/**
 * Records a call as `AdapterCalls.run` does, at the latest when its caller aborts: LangChain goes on with a tool that is a
 * generator, perhaps without end, and nobody waits for it. Also counts the call's denial in the running graph: a limit on
 * steps may be in the thousands, and a model that repeats a denied call would be called until then.
 *
 * @throws ActionDeniedError when the guard denies the call
 */
export async function runCounted<Result>(
  calls: AdapterCalls,
  call: HookedCall,
  run: RunCall<Result>,
): Promise<Result> {
  const [graph] = runsAround();
  let running: Promise<Result> | undefined;
  try {
    await calls.run(call, (args, change) => {
      graph?.denied.letThrough(call.toolName);
      running = (async () => run(args, change))();
      return untilAborted(running, call.signal);
    });
  } catch (error) {
    if (ActionDeniedError.isInstance(error)) countDenial(call, error);
    if (!running) throw error;
  }
  return running as Promise<Result>;
}

/** Settles like a promise, or is rejected when a signal aborts first. */
function untilAborted<Result>(running: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return running;
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener('abort', abort, { once: true });
  return Promise.race([running, promise]).finally(() => signal.removeEventListener('abort', abort));
}

/**
 * Returns the final message of the running graph, in place of its model's, once the model has repeated a denied call too
 * often; undefined while the graph continues. A model that a tool calls also continues.
 *
 * @throws ActionDeniedError when the graph still calls its models repeatedly
 */
export function endOfRun(): string | undefined {
  const [graph] = runsAround();
  if (graph?.denied.reason === undefined || graph.startedIn !== innermostCall()) return undefined;
  graph.endings += 1;
  if (graph.endings > maxSameDenials && graph.denial) throw graph.denial;
  return graph.denied.reason;
}

/**
 * Counts a denial. The end of a graph's run is a denial for the graph whose tool runs it, because its model might keep
 * starting it.
 */
function countDenial(call: HookedCall, denial: ActionDeniedError): void {
  for (const graph of runsAround()) {
    if (!graph.denied.deny(call, denial)) return;
    graph.denial = denial;
  }
}
