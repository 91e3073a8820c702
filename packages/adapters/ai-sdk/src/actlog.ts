import { ActionDeniedError, type ToolOutcome } from '@actlog/recorder';
import {
  type AdapterCalls,
  abandonedCall,
  chatTexts,
  type HookedCall,
  noteTexts,
  refuseOptions,
  type ToolsOnly,
  withMethods,
} from '@actlog/recorder/adapter';
import type { ToolSet } from 'ai';
import {
  type ActlogOptions,
  aiSdkCalls,
  recordSteps,
  recordTelemetry,
  rememberExecution,
  rememberInputSession,
} from './telemetry.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new ToolLoopAgent({ model, tools: actlog({ weather, sendMail }) });
 * ```
 *
 * Accepts the tools of `generateText`, `streamText` and every agent, in `ai` 6 and 7. To record calls that reach none
 * of your tools, use `registerTelemetry(actlog.telemetry())` in `ai` 7, or `onStepFinish: actlog.steps()` in `ai` 6.
 *
 * @returns the same tools, of the same types; those that only a client or a provider can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Integration for `registerTelemetry` of `ai` 7: records every call of the process that nothing else records. */
  readonly telemetry: typeof recordTelemetry;
  /** Callback for `onStepFinish`: records the calls that reach none of your tools. */
  readonly steps: typeof recordSteps;
} = Object.assign(recordTools, { telemetry: recordTelemetry, steps: recordSteps });

/** Options that `execute` receives beside the input; a manual call may omit all of them. */
interface ExecutionOptions {
  readonly toolCallId?: string;
  readonly messages?: unknown;
  readonly abortSignal?: AbortSignal;
}

type Execute = (input: unknown, options?: ExecutionOptions) => unknown;

/** A tool that this process runs. */
interface ExecutableTool {
  readonly execute: Execute;
  readonly inputSchema?: unknown;
}

/** Binds a tool that runs programs to the tools that they may call, and returns the tool that is run. */
interface LocalCaller {
  readonly type: 'local';
  readonly bind: (tools: unknown) => unknown;
}

/** Wraps tools for `actlog()`: the same tools, of the same types, recorded and guarded. */
function recordTools<Tools extends ToolSet>(
  tools: Tools & ToolsOnly<Tools>,
  options: ActlogOptions = {},
): Tools {
  refuseOptions(tools, 'actlog(tools, { guard })');
  const calls = aiSdkCalls(options);
  const entries = Object.entries(tools as Record<string, unknown>).map(([name, tool]) => [
    name,
    calls.covers(name) ? recordedTool(name, tool, calls) : tool,
  ]);
  return Object.fromEntries(entries) as Tools;
}

function recordedTool(name: string, tool: unknown, calls: AdapterCalls): unknown {
  const methods = {
    ...(isExecutable(tool) && { execute: recordedExecute(name, tool, calls) }),
    ...recordedCaller(name, tool, calls),
  };
  // Own functions of the tool may be schemas.
  return Object.keys(methods).length > 0 ? withMethods(tool as object, methods, 'class-methods') : tool;
}

/** Wraps the caller of code mode, which runs the tool returned by `bind` instead of the given one. */
function recordedCaller(name: string, tool: unknown, calls: AdapterCalls) {
  const { experimental_toolCaller: caller } = (tool ?? {}) as { experimental_toolCaller?: LocalCaller };
  if (caller?.type !== 'local') return undefined;
  const bind = (tools: unknown) => recordedTool(name, caller.bind(tools), calls);
  return { experimental_toolCaller: withMethods(caller, { bind }) };
}

function isExecutable(tool: unknown): tool is ExecutableTool {
  return typeof (tool as Partial<ExecutableTool> | undefined)?.execute === 'function';
}

function recordedExecute(toolName: string, tool: ExecutableTool, calls: AdapterCalls): Execute {
  const noted = (input: unknown, options?: ExecutionOptions): HookedCall => {
    const { messages, toolCallId: callId } = options ?? {};
    rememberExecution(callId, calls.recorder);
    const { conversations } = calls;
    const sessionId = conversations.sessionOf(messages);
    conversations.note(messages, { toolName, callId }, sessionId);
    rememberInputSession(input, sessionId);
    noteTexts(calls, () => ({ sessionId, ...chatTexts(messages) }));
    return {
      toolName,
      arguments: input,
      callId,
      wrapping: { wrapper, wrapped: tool.execute },
      signal: options?.abortSignal,
      sessionId,
      acceptsChanges: true,
      // The AI SDK validates before `execute`.
      schema: tool.inputSchema,
    };
  };
  const once: Execute = (input, options) => {
    const run = (args: unknown) => {
      const result = tool.execute(args, options);
      // The result of a promise is final: a page of a list, for example, must not be iterated to its end.
      return isAsyncIterable(result) ? lastOf(result) : result;
    };
    return calls.run(noted(input, options), run).catch(throwForModel);
  };
  const step: Execute = async function* (input, options) {
    const start = (args: unknown) => tool.execute(args, options) as AsyncIterable<unknown>;
    yield* recordStream(calls, noted(input, options), start);
  };
  // Keep a generator function, so that an outer wrapper recognizes it.
  const wrapper = isGeneratorFunction(tool.execute) ? step : once;
  return wrapper;
}

/**
 * Returns `true` if a tool is an async generator function, without running it. Checks the tag, because bundlers for
 * ES2017 compile generator functions to plain functions, so that there is no class to compare with.
 */
function isGeneratorFunction(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

/** Returns `true` if a result is a stream of results. */
function isAsyncIterable(result: unknown): result is AsyncIterable<unknown> {
  return (
    typeof (result as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator] === 'function'
  );
}

/** Returns the last result of a stream, which is the one that the AI SDK passes to the model. */
async function lastOf(results: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const result of results) last = result;
  return last;
}

/**
 * Records a tool that yields several results. Each is passed on immediately; the call ends with the last one, which is
 * recorded.
 *
 * @throws ActionDeniedError when the guard denies the call
 */
async function* recordStream(
  calls: AdapterCalls,
  call: HookedCall,
  start: (args: unknown) => AsyncIterable<unknown>,
): AsyncGenerator<unknown, void> {
  const begun = await calls.begin(call).catch(throwForModel);
  let outcome: ToolOutcome = {
    ok: false,
    error: abandonedCall('The consumer stopped reading.'),
  };
  let results: AsyncIterator<unknown> | undefined;
  try {
    const args = begun.change ? begun.change.arguments : call.arguments;
    results = begun.step(() => start(args)[Symbol.asyncIterator]());
    let last: unknown;
    while (true) {
      // As a step, because a generator runs in the context of its consumer.
      const next: IteratorResult<unknown> = await begun.step(() =>
        (results as AsyncIterator<unknown>).next(),
      );
      if (next.done) break;
      last = next.value;
      yield last;
    }
    outcome = { ok: true, result: last };
    results = undefined;
  } catch (error) {
    outcome = { ok: false, error };
    results = undefined;
    throw error;
  } finally {
    try {
      await results?.return?.();
    } finally {
      await begun.end(outcome); // also if the tool throws when it is closed early
    }
  }
}

/**
 * Throws an error in a form that the AI SDK passes to the model. Depending on version and situation, it uses the
 * error's message, its string form or its JSON: for a denial, all of them are the message.
 *
 * @throws the given error
 */
function throwForModel(error: unknown): never {
  if (ActionDeniedError.isInstance(error)) {
    // Configurable, because a denial passes here twice if a tool calls another one manually.
    const method = { configurable: true, value: () => error.message };
    Object.defineProperties(error, { toString: method, toJSON: method });
  }
  throw error;
}
