import { ActionDeniedError } from '@actlog/recorder';
import { type AdapterCalls, currentSessionId, type HookedCall } from '@actlog/recorder/adapter';
import { callingAgent, modelArguments } from './call-scope.ts';
import { argumentsOf, suspended } from './mastra-calls.ts';
import { recordedCalls } from './recorded-calls.ts';
import {
  type Invocation,
  rememberInConversation,
  rememberRun,
  type Suspending,
  SuspensionWatch,
  sessionOf,
  tracedAgent,
} from './session.ts';
import { ranTool } from './tracing/span-location.ts';

/** Function of a tool. */
export type Execute = (input: unknown, context?: ToolContext) => unknown;

/** A tool that this process runs. */
export interface ExecutableTool {
  readonly execute: Execute;
  readonly inputSchema?: unknown;
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
 * @param schema - schema of the input, which Mastra has validated
 * @param wrapped - function that the result takes the place of. Default: the same
 */
export function recordedExecute(
  toolName: string,
  execute: Execute,
  calls: AdapterCalls,
  schema: unknown,
  wrapped: object = execute,
): Execute {
  const recorded = recordedCalls(calls.recorder);
  const wrapper: Execute = async (input, context) => {
    const { call, messages } = calledTool(toolName, input, context, calls);
    const span = context?.tracingContext?.currentSpan;
    if (span?.id && ranTool(span) === toolName) recorded.takeSpan(span.id);
    recorded.rememberByTool(messages, call.callId);
    rememberRun(calls, call, messages, context ?? {});
    const suspension = new SuspensionWatch(context, context?.agent, context?.workflow);
    let ended: Promise<unknown> | undefined;
    try {
      // Mastra has added ids to the input of an agent or a workflow, which the changed arguments do not have.
      const acceptsChanges = !/^(agent|workflow)-/.test(toolName);
      const guarded = { ...call, wrapping: { wrapper, wrapped }, acceptsChanges, schema };
      return await calls.run(guarded, (args, change) => {
        ended = (async () => execute(change ? args : input, context))();
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

/** Properties of the agent that runs a tool. */
interface AgentContext extends Suspending {
  readonly agentId?: string;
  readonly toolCallId?: string;
  readonly messages?: object | undefined;
}

/**
 * Context of a tool from any runner: an agent, the router of a network, a workflow, code mode. Tools of the AI SDK
 * receive the same as an agent's hooks.
 */
export interface ToolContext extends Invocation {
  readonly agent?: AgentContext;
  readonly workflow?: Suspending;
}

/** Converts a tool invocation to a call for the recorder; an agent's hooks see the same id and messages. */
function calledTool(
  toolName: string,
  input: unknown,
  context: ToolContext | undefined,
  calls: AdapterCalls,
): { readonly call: HookedCall; readonly messages: object | undefined } {
  const given = context ?? {};
  const { agentId, toolCallId, messages }: AgentContext = given.agent ?? given;
  const callId = toolCallId || undefined;
  const call = {
    toolName,
    arguments: argumentsOf(toolName, modelArguments(toolName, callId, input)),
    callId,
    // Agents that run concurrently write their threads into one request context, but calls made by a tool run in its
    // session.
    sessionId:
      (callId === undefined ? currentSessionId() : undefined) ?? sessionOf({ ...given, messages }, calls),
    agentId: agentId || tracedAgent(given) || callingAgent(),
    signal: given.abortSignal,
  };
  if (callId !== undefined) rememberInConversation(calls, call, messages);
  return { call, messages };
}
