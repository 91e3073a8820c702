import { ActionDeniedError, type RunCall, responseStatuses, type ToolOutcome } from '@actlog/recorder';
import {
  AdapterCalls,
  type AdapterOptions,
  type HookedCall,
  MethodHooks,
  maxSameDenials,
  mcpErrorStatus,
  noteTexts,
  ProcessCoverage,
  toolContent,
  type Wrapping,
} from '@actlog/recorder/adapter';
import { ToolMessage } from '@langchain/core/messages';
import type { ClientTool } from '@langchain/core/tools';
import { isCommand, isGraphBubbleUp, isParentCommand } from '@langchain/langgraph';
import { MiddlewareError, ToolInvocationError } from 'langchain';
import {
  asRecordedCall,
  behindMessage,
  errorMessage,
  innermostCall,
  isModelCall,
  ownOutcome,
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

/** Start of LangChain's error message for arguments that do not match a tool's schema. */
const unfitInput = 'Received tool input did not match expected schema';

/** Start of the messages of `@langchain/mcp-adapters` for an error result of a server, and for an error of the client. */
const ofMcpAdapters =
  /^(?:MCP tool '.*?' on server '.*?' returned an error: |Error calling tool .*?: (?:\w+: )?)/;

/** Unwraps the error thrown by a tool from the wrappers of inner middleware. */
export function thrownByTool(error: unknown): unknown {
  let thrown = error;
  while (MiddlewareError.isInstance(thrown)) thrown = thrown.cause;
  return thrown;
}

/** Returns `true` if an error is not a failure but interrupts or leaves the tool's graph. */
export function isInterruption(error: unknown): boolean {
  return typeof error === 'object' && error !== null && isGraphBubbleUp(error);
}

/**
 * Returns the status of a call from its outcome in LangChain: `null` if a graph was interrupted inside the tool and
 * will run it again, `undefined` to use the recorder's table.
 */
function toolOutcomeStatus(outcome: ToolOutcome, call: HookedCall): number | null | undefined {
  if (!outcome.ok) return statusOfError(outcome.error, call);
  const { toolName, callId } = call;
  const message = isCommand(outcome.result) ? messageIn(outcome.result, callId) : outcome.result;
  if (!ToolMessage.isInstance(message) || message.status !== 'error') return undefined;
  return isUnknownTool(message.text, toolName) ? responseStatuses.unknownTool : responseStatuses.threw;
}

/** Returns `true` for the message of a tool node about a call of an unknown tool. */
function isUnknownTool(text: string, toolName: string): boolean {
  return (
    text.startsWith(`Error: ${toolName} is not a valid tool`) || // of `createAgent`
    text.startsWith(`Error: Tool "${toolName}" not found.`) // of LangGraph
  );
}

/** Returns the result message of a call, for a tool that adds it to the graph's state itself. */
function messageIn({ update }: { readonly update?: unknown }, callId: string | undefined): unknown {
  const { messages } = (update ?? {}) as { messages?: unknown };
  return [messages]
    .flat()
    .find((message) => ToolMessage.isInstance(message) && message.tool_call_id === callId);
}

function statusOfError(error: unknown, call: HookedCall): number | null | undefined {
  // A tool whose graph hands over to its parent has finished and is not run again.
  if (isInterruption(error)) return isParentCommand(error) ? responseStatuses.ok : null;
  return isInvalidInput(error, call) ? responseStatuses.invalidArguments : statusOfMcpError(error, call);
}

/**
 * Returns the status of an error of `@langchain/mcp-adapters`, which contains the message of the server or the client.
 */
function statusOfMcpError(error: unknown, { toolName }: HookedCall): number | undefined {
  const { name, message } = (error ?? {}) as { name?: unknown; message?: unknown };
  if (name !== 'ToolException' || typeof message !== 'string') return undefined;
  return mcpErrorStatus(message.replace(ofMcpAdapters, ''), undefined, toolName);
}

/**
 * Returns `true` for an error about the input of this call. Errors thrown by the tool itself are recognized by their
 * text, because `require` and `import` load different copies of the class. A tool may pass on the error of another tool
 * that it calls with other input.
 */
function isInvalidInput(error: unknown, { arguments: args }: HookedCall): boolean {
  if (error instanceof ToolInvocationError) return true;
  if (!(error instanceof Error) || !error.message.startsWith(unfitInput)) return false;
  const { output } = error as { output?: unknown };
  return typeof output !== 'string' || inputIn(output) === JSON.stringify(args);
}

/** Returns the JSON of the arguments in the JSON of a tool's input, which may be the whole call. */
function inputIn(json: string): string | undefined {
  const input = JSON.parse(json) as { type?: unknown; args?: unknown } | null;
  return JSON.stringify(input?.type === 'tool_call' ? input.args : input);
}

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
      outcomeOf: (outcome, call) => {
        const own = ownOutcome(outcome, call);
        return own && behindMessage(own);
      },
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
