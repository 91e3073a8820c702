import {
  type AdapterCalls,
  chatTexts,
  type HookedCall,
  noteTexts,
  refuseOptions,
  type ToolsOnly,
  withMethods,
} from '@actlog/recorder/adapter';
import type { ToolSet } from 'ai';
import { aiSdkCalls } from './ai-sdk-calls.ts';
import { noteExecution } from './execution.ts';
import type { ActlogOptions } from './options.ts';
import { noteInputSession } from './run-sessions.ts';
import { throwForModel } from './throw-for-model.ts';
import { isAsyncIterable, isGeneratorFunction, lastOf, recordStream } from './tool-stream.ts';

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
}

/** Binds a tool that runs programs to the tools that they may call, and returns the tool that is run. */
interface LocalCaller {
  readonly type: 'local';
  readonly bind: (tools: unknown) => unknown;
}

/** Wraps tools for `actlog()`: the same tools, of the same types, recorded and guarded. */
export function recordTools<Tools extends ToolSet>(
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
  // Its own functions may be schemas.
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
    noteExecution(callId, calls.recorder);
    const { conversations } = calls;
    const sessionId = conversations.sessionOf(messages);
    conversations.note(messages, { toolName, callId }, sessionId);
    noteInputSession(input, sessionId);
    noteTexts(calls, () => ({ sessionId, ...chatTexts(messages) }));
    return {
      toolName,
      arguments: input,
      callId,
      wrapping: { wrapper, wrapped: tool.execute },
      signal: options?.abortSignal,
      sessionId,
    };
  };
  const once: Execute = (input, options) => {
    const run = () => {
      const result = tool.execute(input, options);
      // The result of a promise is final: a page of a list, for example, must not be iterated to its end.
      return isAsyncIterable(result) ? lastOf(result) : result;
    };
    return calls.run(noted(input, options), run).catch(throwForModel);
  };
  const step: Execute = async function* (input, options) {
    const start = () => tool.execute(input, options) as AsyncIterable<unknown>;
    yield* recordStream(calls, noted(input, options), start);
  };
  // Keep a generator function, so that an outer wrapper recognizes it.
  const wrapper = isGeneratorFunction(tool.execute) ? step : once;
  return wrapper;
}
