import { currentSessionId, type HookedCall } from '@actlog/recorder/adapter';
import { argumentsOf } from './delegation.ts';
import type { Invocation } from './invocation.ts';
import { askedFor, callingAgent } from './place.ts';
import { sessionOf, tracedAgent } from './session.ts';
import type { Suspending } from './suspension.ts';

/** What is known of the agent that runs a tool. */
interface AgentContext extends Suspending {
  readonly agentId?: string;
  readonly toolCallId?: string;
  readonly messages?: object;
}

/**
 * What a tool is given beside its input, by whatever runs it: an agent, the router of a network, a workflow, code mode.
 * Tools of the AI SDK are given what an agent's hooks are.
 */
export interface ToolContext extends Invocation {
  readonly agent?: AgentContext;
  readonly workflow?: Suspending;
}

/** A call that is made of a tool, as the recorder takes it; an agent's hooks know it by the same id and messages. */
export function calledTool(
  toolName: string,
  input: unknown,
  context: ToolContext | undefined,
): { readonly call: HookedCall; readonly messages: object | undefined } {
  const given = context ?? {};
  const { agentId, toolCallId, messages }: AgentContext = given.agent ?? given;
  const callId = toolCallId || undefined;
  const call = {
    toolName,
    arguments: argumentsOf(toolName, askedFor(toolName, callId, input)),
    callId,
    // Agents that run at once write their threads into one request context; what they call is sure of its own.
    sessionId: (callId === undefined ? currentSessionId() : undefined) ?? sessionOf(given),
    agentId: agentId || tracedAgent(given) || callingAgent(),
    signal: given.abortSignal,
  };
  return { call, messages };
}
