import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, type AdapterOptions, withMethods } from '@actlog/recorder/adapter';
import type { ToolsInput } from '@mastra/core/agent';
import { hookInstructions } from './instructions.ts';
import { mastraCalls, suspended } from './mastra-calls.ts';
import { nameForModel } from './model-name.ts';
import { preparePlaces } from './place.ts';
import { recordedCalls } from './recorded-calls.ts';
import { noteRun } from './shown-texts.ts';
import { SuspensionWatch } from './suspension.ts';
import { calledTool, type ToolContext } from './tool-context.ts';
import { ranTool } from './tracing/tool-span.ts';

type Execute = (input: unknown, context?: ToolContext) => unknown;

/** A tool that this process runs. */
interface ExecutableTool {
  readonly execute: Execute;
}

/**
 * Wraps tools for `actlog.tools()`: the same tools, of the same types, recorded and guarded wherever Mastra runs them.
 *
 * @param tools - tools by name, as passed to an agent
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function recordTools<Tools extends ToolsInput>(tools: Tools, options: AdapterOptions = {}): Tools {
  preparePlaces();
  const calls = mastraCalls(options);
  if (calls.tracesOrigins) hookInstructions();
  const entries = Object.entries(tools as Record<string, unknown>).map(([name, tool]) => {
    const toolName = nameForModel(name);
    const isRecorded = isExecutable(tool) && calls.covers(toolName);
    if (!isRecorded) return [name, tool];
    // Its own functions may be schemas.
    return [name, withMethods(tool, { execute: recordedExecute(toolName, tool, calls) }, 'class-methods')];
  });
  return Object.fromEntries(entries) as Tools;
}

function isExecutable(tool: unknown): tool is ExecutableTool {
  return typeof (tool as Partial<ExecutableTool> | undefined)?.execute === 'function';
}

function recordedExecute(toolName: string, tool: ExecutableTool, calls: AdapterCalls): Execute {
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
      return await calls.run({ ...call, wrapping: { wrapper, wrapped: tool.execute } }, () => {
        ended = (async () => tool.execute(input, context))();
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
