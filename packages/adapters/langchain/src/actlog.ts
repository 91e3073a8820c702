import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, noteTexts, ownName, refuseOptions, withMethods } from '@actlog/recorder/adapter';
import type { ClientTool } from '@langchain/core/tools';
import { type AgentMiddleware, createMiddleware, MiddlewareError } from 'langchain';
import { asRecordedCall, asSeenCall, errorMessage, thrownMessage, watchedTool } from './changed-call.ts';
import { recordHandler } from './handler.ts';
import { hookLangChain, rememberWrapped } from './hooks.ts';
import {
  type ActlogOptions,
  isInterruption,
  langChainCalls,
  processCoverage,
  recordInvocation,
  rememberMessages,
  runCounted,
  surroundings,
  thrownByTool,
} from './langchain-calls.ts';
import { rememberMiddleware } from './own-agents.ts';
import { conversationOf, currentRun, type RunContext } from './run-context.ts';

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
