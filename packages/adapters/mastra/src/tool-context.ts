import { type AdapterCalls, currentSessionId, type HookedCall } from '@actlog/recorder/adapter';
import { callingAgent, modelArguments } from './call-scope.ts';
import { argumentsOf } from './delegation.ts';
import type { Invocation } from './invocation.ts';
import { noteInConversation, sessionOf, tracedAgent } from './session.ts';
import type { Suspending } from './suspension.ts';

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
export function calledTool(
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
    // own session.
    sessionId:
      (callId === undefined ? currentSessionId() : undefined) ?? sessionOf({ ...given, messages }, calls),
    agentId: agentId || tracedAgent(given) || callingAgent(),
    signal: given.abortSignal,
  };
  if (callId !== undefined) noteInConversation(calls, call, messages);
  return { call, messages };
}
