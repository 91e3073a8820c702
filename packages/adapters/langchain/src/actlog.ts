import { ActionDeniedError, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  noteTexts,
  ownName,
  type RecordOnlyOptions,
  refuseGuard,
  refuseOptions,
  withMethods,
} from '@actlog/recorder/adapter';
import { BaseCallbackHandler } from '@langchain/core/callbacks/base';
import type { Serialized } from '@langchain/core/load/serializable';
import type { BaseMessage } from '@langchain/core/messages';
import type { ClientTool } from '@langchain/core/tools';
import { type AgentMiddleware, createMiddleware, MiddlewareError } from 'langchain';
import {
  asRecordedCall,
  asSeenCall,
  errorMessage,
  isInterruption,
  isRecorded,
  thrownByTool,
  thrownMessage,
  watchedTool,
} from './changed-call.ts';
import { hookLangChain, rememberWrapped } from './hooks.ts';
import {
  type ActlogOptions,
  contentsOf,
  inputContents,
  langChainCalls,
  processCoverage,
  recordInvocation,
  rememberMessages,
  runCounted,
  surroundings,
} from './langchain-calls.ts';
import { rememberMiddleware } from './own-agents.ts';
import { agentOf, conversationOf, currentRun, type RunContext, sessionOf } from './run-context.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees how other middleware handles an error. `actlog.install()` covers all agents,
 * graphs and tools of the process. Without middleware, `actlog.tools(tools)` wraps the tools of a graph, and
 * `actlog.handler()` is a callback handler that only records. If several cover a call, the nearest applies: a wrapped
 * tool or the agent's middleware, then the call around it, then the process.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordMiddleware & {
  /**
   * Covers the whole process: records and guards the calls of all agents, tool nodes and tools that nothing nearer
   * covers, also of those that exist already. Of several installs, the last one applies.
   *
   * Returns a function that ends the coverage; calls that are already running end as they began.
   */
  readonly install: typeof installForProcess;
  /** Wraps tools for a `ToolNode`, a graph or manual calls: recorded and guarded. */
  readonly tools: typeof recordTools;
  /** Callback handler for `callbacks: [...]`: records only, including sub-agents and sub-graphs. */
  readonly handler: typeof recordHandler;
} = Object.assign(recordMiddleware, {
  install: installForProcess,
  tools: recordTools,
  handler: recordHandler,
});

/** Covers the whole process, for `actlog.install()`. */
function installForProcess(options: Omit<ActlogOptions, 'onToolError'> = {}): () => void {
  const calls = langChainCalls(options);
  hookLangChain();
  return processCoverage.install(calls);
}

type Method = (...args: unknown[]) => unknown;

/** Wraps tools for `actlog.tools()`: the same tools, of the same types, recorded and guarded. */
function recordTools<const Tools extends readonly ClientTool[]>(
  tools: Tools,
  options: ActlogOptions = {},
): { -readonly [Index in keyof Tools]: Tools[Index] } {
  refuseOptions(tools, 'actlog.tools(tools, { guard })');
  const calls = langChainCalls(options);
  hookLangChain();
  return tools.map((tool) => (calls.covers(tool.name) ? wrapped(tool, calls) : tool)) as {
    -readonly [Index in keyof Tools]: Tools[Index];
  };
}

function wrapped<Tool extends ClientTool>(tool: Tool, calls: AdapterCalls): Tool {
  const own = tool as unknown as Readonly<Record<string, Method>>;
  const recorded = (name: string) => {
    const wrapper = (input: unknown, config?: RunContext, ...rest: unknown[]) => {
      const run = (given: unknown) => own[name]?.(given, config, ...rest);
      const wrapping = { wrapper, wrapped: own[name] as Method };
      return recordInvocation(tool, calls, { input, config, run, wrapping });
    };
    return [name, wrapper];
  };
  // `call` is the former name of `invoke`.
  const entries = ['invoke', 'call'].filter((name) => name in tool).map(recorded);
  const view: Tool = withMethods(tool, {
    ...derivedMethods(tool, () => view),
    ...Object.fromEntries(entries),
  });
  rememberWrapped(view);
  return view;
}

/**
 * Binds methods that LangChain derives from `invoke`, such as `batch` and `pipe`, to the view, so that their calls are
 * recorded too.
 */
function derivedMethods(tool: object, view: () => object): Record<string, Method> {
  const inherited: unknown = Object.getPrototypeOf(tool);
  const methods = Object.entries(Object.getOwnPropertyDescriptors(runnableOf(tool))).flatMap(
    ([name, { value }]) => {
      const isDerived = name !== 'constructor' && typeof value === 'function' && !Object.hasOwn(tool, name);
      if (!isDerived || (inherited as Record<string, unknown>)[name] !== value) return [];
      return [[name, (...args: unknown[]) => (value as Method).apply(view(), args)] as const];
    },
  );
  return Object.fromEntries(methods);
}

/**
 * Returns the Runnable prototype from the copy of LangChain that the tool uses: `require` and `import` load different
 * copies.
 */
function runnableOf(tool: object): object {
  let runnable = {};
  for (let one = Object.getPrototypeOf(tool); one !== null; one = Object.getPrototypeOf(one)) {
    if (Object.hasOwn(one, 'pipe')) runnable = one;
  }
  return runnable;
}

/** Creates the middleware behind `actlog()`. */
function recordMiddleware(options: ActlogOptions = {}): AgentMiddleware {
  const calls = langChainCalls(options);
  hookLangChain();
  const middleware = createMiddleware({
    name: ownName('langchain'), // LangChain rejects two middlewares with the same name, and an agent with two should work
    ...(calls.tracesOrigins && { wrapModelCall: rememberSystemPrompt(calls) }),
    wrapToolCall: async (request, handler) => {
      const { toolCall, runtime } = request;
      try {
        if (!calls.covers(toolCall.name)) {
          const seen = { toolName: toolCall.name, callId: toolCall.id, tool: request.tool };
          return await asSeenCall(seen, () => handler(request), calls);
        }
        return await runRecorded(request, handler, calls);
      } catch (error) {
        if (isInterruption(error) || runtime.signal?.aborted) throw error;
        const thrown = thrownByTool(error);
        if (ActionDeniedError.isInstance(thrown)) return errorMessage(toolCall, thrown.message, thrown);
        // An error of other middleware would also end the run without this one.
        if (options.onToolError === 'throw' || MiddlewareError.isInstance(error)) throw error;
        return thrownMessage(toolCall, error);
      }
    },
  });
  rememberMiddleware(middleware);
  return middleware;
}

type ToolHook = NonNullable<AgentMiddleware['wrapToolCall']>;
type ToolRequest = Parameters<ToolHook>[0];

/** Records a call, and runs it if the guard allows it. */
async function runRecorded(
  request: ToolRequest,
  handler: Parameters<ToolHook>[1],
  calls: AdapterCalls,
): Promise<Awaited<ReturnType<ToolHook>>> {
  const { toolCall, runtime, tool } = request;
  const { messages } = request.state;
  const called = { toolName: toolCall.name, callId: toolCall.id };
  const place = surroundings(calls, { ...called, run: runOf(runtime), messages });
  rememberMessages(calls, () => ({ messages, sessionId: place.sessionId }));
  const call = {
    ...place,
    ...called,
    arguments: toolCall.args,
    signal: runtime.signal,
    acceptsChanges: true,
  };
  const proceed = async (args: unknown) => {
    if (!calls.isGuarding) return handler(request);
    const isChanged = args !== toolCall.args;
    const changed = isChanged && { toolCall: { ...toolCall, args: args as typeof toolCall.args } };
    return handler({ ...request, ...changed, tool: await watchedTool(tool, call, calls, args) });
  };
  return runCounted(calls, call, (args) => asRecordedCall({ ...call, calls, tool }, () => proceed(args)));
}

type ModelHook = NonNullable<AgentMiddleware['wrapModelCall']>;

/** Creates the hook that sees the system prompt, for the origins of arguments. */
function rememberSystemPrompt(calls: AdapterCalls): ModelHook {
  return (request, handler) => {
    noteTexts(calls, () => ({
      sessionId: conversationOf(runOf(request.runtime), request.state.messages, calls),
      system: [request.systemMessage.content],
    }));
    return handler(request);
  };
}

/** Returns the run that a hook is called in. */
function runOf({ configurable }: { readonly configurable?: unknown }): RunContext {
  return { ...currentRun(), configurable: configurable as RunContext['configurable'] };
}

/** Maximum number of calls to remember, because LangChain does not report the end of every call. */
const maxCalls = 10_000;

/** A call that has started. */
interface Begun {
  readonly toolName: string;
  readonly input: string;
  readonly callId: string | undefined;
  readonly metadata: Record<string, unknown> | undefined;
}

/** Creates the handler behind `actlog.handler()`. */
function recordHandler(
  options: RecordOnlyOptions<Omit<ActlogOptions, 'onToolError'>> = {},
): BaseCallbackHandler {
  refuseGuard(options, 'middleware: [actlog({ guard })]');
  return new ToolCallHandler(langChainCalls(options));
}

/** Records calls from LangChain's callbacks, which follow a run into sub-agents and sub-graphs. */
class ToolCallHandler extends BaseCallbackHandler {
  override name = 'actlog';
  readonly #calls: AdapterCalls;
  /** Calls by run id, because a handler that is attached twice is called twice with the same run id. */
  readonly #begun = new Map<string, Begun>();
  readonly #inner = new InnerRuns();

  constructor(calls: AdapterCalls) {
    // Awaited, so that all events are recorded when a run has ended.
    const ignoresTexts = !calls.tracesOrigins;
    super({
      ignoreLLM: ignoresTexts,
      ignoreChain: ignoresTexts,
      ignoreRetriever: true,
      _awaitHandler: true,
    });
    this.#calls = calls;
  }

  override handleChainStart(
    _chain: Serialized,
    inputs: unknown,
    runId: string,
    parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): void {
    this.#inner.begin(runId, parentRunId);
    if (parentRunId !== undefined) return; // its input may be a model's
    noteTexts(this.#calls, () => ({ ...placeIn(metadata), user: inputContents(inputs) }));
  }

  override handleChainEnd(_outputs: unknown, runId: string): void {
    this.#inner.end(runId);
  }

  override handleChainError(_error: unknown, runId: string): void {
    this.#inner.end(runId);
  }

  override handleChatModelStart(
    _model: Serialized,
    [messages]: BaseMessage[][],
    _runId: string,
    parentRunId?: string,
    _extra?: Record<string, unknown>,
    _tags?: string[],
    metadata?: Record<string, unknown>,
  ): void {
    if (this.#inner.has(parentRunId)) return;
    noteTexts(this.#calls, () => ({
      ...placeIn(metadata),
      // A node of a graph may put tool results into a new user message.
      user: parentRunId === undefined ? contentsOf(messages, 'human') : [],
      system: contentsOf(messages, 'system'),
    }));
  }

  override handleToolStart(
    tool: Serialized,
    input: string,
    runId: string,
    _parentRunId?: string,
    _tags?: string[],
    metadata?: Record<string, unknown>,
    runName?: string,
    callId?: string,
  ): void {
    if (this.#calls.tracesOrigins) this.#inner.beginTool(runId);
    const toolName = runName ?? tool.id.at(-1) ?? 'unknown';
    if (isRecorded(this.#calls.recorder, { toolName, callId, runId })) return;
    this.#begun.set(runId, { toolName, input, callId, metadata });
    if (this.#begun.size > maxCalls) this.#begun.delete(this.#begun.keys().next().value as string);
  }

  override handleToolEnd(output: unknown, runId: string): void {
    // A tool of a custom class starts under its class name and ends under its tool name.
    const name = (output as { name?: unknown } | undefined)?.name;
    this.#end(runId, { ok: true, result: output }, typeof name === 'string' ? name : undefined);
  }

  override handleToolError(error: unknown, runId: string): void {
    this.#end(runId, { ok: false, error });
  }

  #end(runId: string, outcome: ToolOutcome, name?: string): void {
    this.#inner.end(runId);
    const begun = this.#begun.get(runId);
    if (!begun) return;
    this.#begun.delete(runId);
    const toolName = name || begun.toolName;
    if (!this.#calls.covers(toolName)) return;
    const { input, callId, metadata } = begun;
    const call = { toolName, arguments: parsed(input), callId, ...placeIn(metadata) };
    this.#calls.record(call, outcome);
  }
}

/** Returns the session and the agent of a call, from what LangChain passes to callbacks. */
function placeIn(metadata: Record<string, unknown> | undefined) {
  return { sessionId: sessionOf({ metadata }), agentId: agentOf({ metadata }) };
}

/** Parses arguments, which callbacks receive as text, so that their hash is the same as in the other hooks. */
function parsed(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return input;
  }
}

/** Maximum number of runs to remember, because LangChain does not report the end of every run. */
const maxRuns = 10_000;

/** Runs of tools and everything inside them, whose messages are not the user's but a model's or a tool's. */
class InnerRuns {
  readonly #runs = new Set<string>();

  /** Tracks a run that starts within a tool's run. */
  begin(runId: string, parentRunId: string | undefined): void {
    if (this.has(parentRunId)) this.beginTool(runId);
  }

  /** Tracks the run of a tool that starts. */
  beginTool(runId: string): void {
    this.#runs.add(runId);
    if (this.#runs.size > maxRuns) this.#runs.delete(this.#runs.values().next().value as string);
  }

  /** Forgets a run that has ended. */
  end(runId: string): void {
    this.#runs.delete(runId);
  }

  /** Returns `true` for the run of a tool, and for one inside it. */
  has(runId: string | undefined): boolean {
    return runId !== undefined && this.#runs.has(runId);
  }
}
