import { ActionDeniedError } from '@actlog/recorder';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import { suspended } from './mastra-calls.ts';
import { recordedCalls } from './recorded-calls.ts';
import { noteRun } from './shown-texts.ts';
import { SuspensionWatch } from './suspension.ts';
import { calledTool, type ToolContext } from './tool-context.ts';
import { ranTool } from './tracing/tool-span.ts';

/** Function of a tool. */
export type Execute = (input: unknown, context?: ToolContext) => unknown;

/** A tool that this process runs. */
export interface ExecutableTool {
  readonly execute: Execute;
}

/** Returns `true` for a tool that this process runs. */
export function isExecutable(tool: unknown): tool is ExecutableTool {
  return typeof (tool as Partial<ExecutableTool> | undefined)?.execute === 'function';
}

/**
 * Returns a function that runs a tool as a recorded and guarded call.
 *
 * @param toolName - name that the model knows
 * @param execute - function that runs the tool
 * @param wrapped - function that the result takes the place of. Default: the same
 */
export function recordedExecute(
  toolName: string,
  execute: Execute,
  calls: AdapterCalls,
  wrapped: object = execute,
): Execute {
  const recorded = recordedCalls(calls.recorder);
  const wrapper: Execute = async (input, context) => {
    const { call, messages } = calledTool(toolName, input, context, calls);
    const span = context?.tracingContext?.currentSpan;
    if (span?.id && ranTool(span) === toolName) recorded.takeSpan(span.id);
    recorded.noteByTool(messages, call.callId);
    noteRun(calls, call, messages, context ?? {});
    const suspension = new SuspensionWatch(context, context?.agent, context?.workflow);
    let ended: Promise<unknown> | undefined;
    try {
      return await calls.run({ ...call, wrapping: { wrapper, wrapped } }, () => {
        ended = (async () => execute(input, context))();
        // It may also throw: if Mastra runs a tool before the model has ended its turn, it cannot be suspended yet.
        return ended.finally(() => {
          if (suspension.isSuspended) throw suspended.error;
        });
      });
    } catch (error) {
      if (error === suspended.error) return await ended;
      if (ActionDeniedError.isInstance(error) && isRouted(context)) return error.message;
      throw error;
    } finally {
      suspension.end();
    }
  };
  return wrapper;
}

/**
 * Returns `true` if the router of a network runs the tool: the network ends when a tool throws, but continues after a
 * result.
 */
function isRouted(context: ToolContext | undefined): boolean {
  return context?.agent !== undefined && context.agent.messages === undefined;
}
