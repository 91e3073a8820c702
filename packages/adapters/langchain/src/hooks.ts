import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, type Method, noteTexts, processWide } from '@actlog/recorder/adapter';
import { AIMessage, AIMessageChunk, ToolMessage } from '@langchain/core/messages';
import type { ClientTool } from '@langchain/core/tools';
import {
  asRecordedCall,
  asSeenCall,
  errorMessage,
  innermostCall,
  isModelCall,
  type ModelCall,
  recorderAround,
  thrownByTool,
  WatchedCall,
} from './changed-call.ts';
import { frameworkClasses } from './framework-classes.ts';
import {
  contentsOf,
  endOfRun,
  hookedMethods,
  processCoverage,
  recordInvocation,
  rememberMessages,
  runCounted,
  surroundings,
} from './langchain-calls.ts';
import { hookAgents, isOwnNode } from './own-agents.ts';
import { type RequestedCall, rememberRequestedCalls } from './requested-calls.ts';
import {
  asGraphRun,
  conversationOf,
  currentRun,
  givenSession,
  messagesOf,
  nodeMessages,
  type RunContext,
  withGeneratedRunId,
} from './run-context.ts';

/**
 * Hooks models, which see the system prompt, and the conversation of a loop that the application writes. A run ends with a
 * message in place of the model's once the model has repeated a denied call too often.
 */
function hookModels(prototype: object): void {
  hookedMethods.hook(prototype as Record<string, Method>, 'invoke', async (model: object, invoke, args) => {
    const end = endOfRun();
    if (end !== undefined) return new AIMessage(end);
    rememberSystemPrompt(args[0]);
    const response = await invoke.apply(model, args);
    rememberResponse(args, requestedIn(response), response);
    return response;
  });
  hookedMethods.hook(
    prototype as Record<string, Method>,
    '_streamIterator',
    (model: object, stream: Method<AsyncGenerator>, args) =>
      withRememberedCalls(args, stream.apply(model, args)),
  );
}

/** Remembers the calls of a streamed response when its stream ends. */
async function* withRememberedCalls(args: unknown[], stream: AsyncGenerator): AsyncGenerator {
  const end = endOfRun();
  if (end !== undefined) {
    yield new AIMessageChunk(end);
    return;
  }
  rememberSystemPrompt(args[0]);
  const streamed = new StreamedCalls();
  let only: unknown;
  for await (const chunk of stream) {
    streamed.add(chunk);
    only = chunk;
    yield chunk;
  }
  rememberResponse(args, streamed.calls(), only);
}

function rememberResponse(
  [input, config]: unknown[],
  requested: readonly RequestedCall[],
  message: unknown,
): void {
  const calls = processCoverage.current;
  if (!calls) return;
  try {
    rememberRequestedCalls(calls, { input, config: config as RunContext, requested, message });
  } catch {
    // A prompt or a message that cannot be read: its calls get another session.
  }
}

function requestedIn(response: unknown): readonly RequestedCall[] {
  const { tool_calls: requested } = (response ?? {}) as { tool_calls?: unknown };
  return Array.isArray(requested) ? requested : [];
}

function rememberSystemPrompt(input: unknown): void {
  const calls = processCoverage.current;
  if (!calls?.tracesOrigins) return;
  noteTexts(calls, () => {
    const run = currentRun();
    const system = contentsOf(input, 'system');
    return { sessionId: conversationOf(run, nodeMessages(run), calls), system };
  });
}

/** A part of a streamed call. */
interface CallChunk {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly args?: string | undefined;
}

/** Calls in the chunks of a streamed response. */
class StreamedCalls {
  readonly #parts = new Map<string | number, { id: string | undefined; name: string; args: string[] }>();
  readonly #whole: RequestedCall[] = [];

  /** Adds a chunk of the response. */
  add(chunk: unknown): void {
    const { tool_call_chunks: parts, tool_calls: whole } = (chunk ?? {}) as {
      tool_call_chunks?: readonly CallChunk[];
      tool_calls?: readonly RequestedCall[];
    };
    if (Array.isArray(parts) && parts.length > 0) for (const part of parts) this.#addPart(part);
    else if (Array.isArray(whole)) this.#whole.push(...whole);
  }

  /** Returns the calls of all chunks so far. */
  calls(): RequestedCall[] {
    const parts = [...this.#parts.values()].map(({ id, name, args }) => ({
      id,
      name,
      args: parsed(args.join('')),
    }));
    return [...this.#whole, ...parts];
  }

  #addPart({ index, id, name = '', args = '' }: CallChunk): void {
    const key = index ?? id ?? this.#parts.size;
    const part = this.#parts.get(key) ?? { id, name: '', args: [] };
    this.#parts.set(key, part);
    part.id ??= id;
    part.name += name;
    part.args.push(args);
  }
}

function parsed(args: string): unknown {
  try {
    return JSON.parse(args || '{}');
  } catch {
    return args; // the model wrote something else
  }
}

/** Tools of `actlog.tools()`, which record their calls themselves. */
const wrappedTools = processWide('@actlog/langchain/wrapped-tools', () => new WeakSet<object>());

/** Remembers a tool of `actlog.tools()`. */
export function rememberWrapped(tool: object): void {
  wrappedTools().add(tool);
}

/** Returns `true` for a tool of `actlog.tools()`. */
function isWrapped(tool: object | undefined): boolean {
  return tool !== undefined && wrappedTools().has(tool);
}

/** The used part of a graph. */
interface Graph {
  readonly name?: unknown;
  /** Configuration of every run, from `withConfig`. */
  readonly config?: RunContext | undefined;
}

/** Hooks the classes of LangChain and LangGraph, each once in the process. */
export function hookLangChain(): void {
  for (const { tools, toolNodes, agents, graphs, models } of frameworkClasses()) {
    tools.forEach(hookTools);
    toolNodes.forEach(hookToolNodes);
    agents.forEach(hookAgents);
    graphs.forEach(hookGraphs);
    models.forEach(hookModels);
  }
}

/** Hooks the method by which every graph runs, also by its other methods. */
function hookGraphs(prototype: object): void {
  const graphs = prototype as Record<string, Method>;
  hookedMethods.hook(graphs, 'streamEvents', (graph: Graph, streamEvents, [input, config, ...rest]) =>
    streamEvents.apply(graph, [input, withGeneratedRunId(config as RunContext | undefined), ...rest]),
  );
  hookedMethods.hook(graphs, 'stream', (graph: Graph, stream, args) => {
    const [input, config] = args as [unknown, RunContext | undefined];
    const given = {
      messages: messagesOf(input),
      sessionId: givenSession({ ...graph.config, ...config }),
      startedIn: innermostCall(),
    };
    return asGraphRun(graph, given, () => stream.apply(graph, args));
  });
}

interface InvokedTool {
  invoke(...args: unknown[]): unknown;
}

/**
 * Hooks the tools of a class, to record calls that neither a middleware nor a hooked tool node has seen: calls of
 * agents inside a covered call, and all calls while the process is covered. LangChain does not pass an agent's
 * middleware to agents run by its tools, such as the subagents of `createDeepAgent`.
 */
function hookTools(prototype: object): void {
  hookedMethods.hook(prototype as InvokedTool, 'invoke', (tool: ClientTool, invoke, args) => {
    const [input, config] = args as [unknown, RunContext | undefined];
    const run = (given: unknown) => invoke.apply(tool, [given, ...args.slice(1)]);
    if (isUnderway(tool, input)) return underwayInvocation(tool, input, config, () => run(input));
    const calls = coverageOf(tool, input);
    if (!calls?.covers(tool.name)) return run(input);
    return recordInvocation(tool, calls, { input, config, run, wrapping: { wrapper: tool, wrapped: tool } });
  });
}

/** Returns `true` if the innermost running call is this invocation, and another hook has it. */
function isUnderway(tool: unknown, input: unknown): boolean {
  const innermost = innermostCall();
  if (!innermost) return false;
  return isModelCall(input) ? innermost.callId === input.id : innermost.tool === tool;
}

/** Invokes the tool of a call that another hook has. */
function underwayInvocation(
  tool: object,
  input: unknown,
  config: RunContext | undefined,
  run: () => unknown,
): unknown {
  const { watched, calls, ...call } = innermostCall() ?? {};
  if (!watched || !calls) return run();
  const seen = call as { toolName: string; callId: string | undefined; tool: unknown };
  return watched.invoke(tool, input, config, () => asRecordedCall({ ...seen, calls }, run));
}

/**
 * Returns the recorder of an invocation, also of one by another tool: its arguments may be the model's, whose code an
 * interpreter runs. A tool of the same name that is given only arguments is the one that is running, behind a wrapper.
 */
function coverageOf(tool: ClientTool, input: unknown): AdapterCalls | undefined {
  if (innermostCall()?.toolName === tool.name && !isModelCall(input)) return undefined;
  return recorderAround() ?? processCoverage.current;
}

/** Node of a graph that runs the tool calls of a message. */
interface ToolNode {
  readonly tools: readonly { readonly name: string }[];
  /** Chain of the agent's middleware. */
  readonly wrapToolCall?: unknown;
  /** Signal that `createAgent` was given. */
  readonly signal?: AbortSignal | undefined;
  run(...args: unknown[]): Promise<unknown>;
  runTool(...args: unknown[]): Promise<unknown>;
}

/** A call in a tool node. */
interface NodeCall {
  readonly node: ToolNode;
  /** Undefined if the node does not have the tool. */
  readonly tool: object | undefined;
  readonly call: ModelCall;
  readonly config: RunContext;
  /** Runs the tool with the call, or with one that has changed arguments. */
  readonly run: (call?: ModelCall) => Promise<unknown>;
}

/** States that nodes were invoked with, by the configuration of the run: older versions do not pass them on. */
const states = new WeakMap<object, unknown>();

/**
 * Hooks nodes that run tool calls, which see unknown tools and invalid arguments too, and in agents the call as their
 * middleware receives it.
 */
function hookToolNodes(prototype: object): void {
  const nodes = prototype as ToolNode;
  hookedMethods.hook(nodes, 'run', (node: ToolNode, run, args) => {
    const [state, config] = args as [unknown, object];
    states.set(config, state);
    return run.apply(node, args);
  });
  hookedMethods.hook(nodes, 'runTool', (node: ToolNode, runTool, args) => {
    const [call, config] = args as [ModelCall, RunContext];
    const run = async (given = call) => runTool.apply(node, [given, ...args.slice(1)]);
    const calls = recorderAround() ?? processCoverage.current;
    if (!calls) return run();
    const tool = node.tools.find(({ name }) => name === call.name);
    const nodeCall = { node, tool, call, config, run };
    if (calls.covers(call.name) && !isOwnNode(node) && !isWrapped(tool))
      return recordNodeCall(nodeCall, calls);
    rememberState(nodeCall, calls);
    return asSeenCall({ toolName: call.name, callId: call.id, tool }, () => run());
  });
}

async function recordNodeCall(nodeCall: NodeCall, calls: AdapterCalls): Promise<unknown> {
  const { node, tool, call: modelCall, config, run } = nodeCall;
  const called = { toolName: modelCall.name, callId: modelCall.id };
  const place = surroundings(calls, { ...called, run: runOf(config), messages: messagesIn(config) });
  rememberState(nodeCall, calls);
  const signal = anySignal(node.signal, config.signal);
  const call = { ...place, ...called, arguments: modelCall.args, signal, acceptsChanges: true };
  try {
    return await runCounted(calls, call, async (args) => {
      const watched = await WatchedCall.of(call, calls, args);
      const changed = args === modelCall.args ? modelCall : { ...modelCall, args };
      const result = await asRecordedCall({ ...call, calls, tool, watched }, () => run(changed));
      if (isResultOfError(node, result)) watched.rememberResult();
      return result;
    });
  } catch (error) {
    const thrown = thrownByTool(error);
    if (!ActionDeniedError.isInstance(thrown)) throw error;
    return errorMessage(modelCall, thrown.message, thrown);
  }
}

/** Returns `true` for the result of a call whose tool threw: the node reports the error to the model. */
function isResultOfError({ wrapToolCall }: ToolNode, result: unknown): boolean {
  // Middleware may have found another result, and older versions do not mark their messages as errors.
  return wrapToolCall === undefined || (ToolMessage.isInstance(result) && result.status === 'error');
}

function anySignal(...signals: readonly (AbortSignal | undefined)[]): AbortSignal | undefined {
  const given = signals.filter((signal) => signal !== undefined);
  return given.length > 1 ? AbortSignal.any(given) : given[0];
}

/** Remembers the messages in the state of a graph, to trace argument origins. */
function rememberState({ config }: NodeCall, calls: AdapterCalls): void {
  rememberMessages(calls, () => {
    const messages = messagesIn(config);
    return { messages, sessionId: conversationOf(runOf(config), messages, calls) };
  });
}

function messagesIn(config: RunContext): unknown {
  return messagesOf(states.get(config)) ?? nodeMessages(config);
}

function runOf({ configurable }: RunContext): RunContext {
  return { ...currentRun(), configurable };
}
