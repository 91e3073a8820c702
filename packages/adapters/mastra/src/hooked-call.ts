import type { AdapterCalls, HookedCall } from '@actlog/recorder/adapter';
import type { ToolHookContext } from '@mastra/core/tools';
import { argumentsOf } from './delegation.ts';
import type { Invocation } from './invocation.ts';
import type { TracedCall } from './recorded-calls.ts';
import { noteInConversation, sessionOf } from './session.ts';

/** A call as reported to a hook. */
export interface HookedTool {
  readonly call: HookedCall;
  /** The same object for both hooks of a call. */
  readonly invocation: Invocation;
  readonly traced: TracedCall;
}

/** Converts the context of a hook to a call for the recorder. */
export function hookedTool(
  { toolName, input, context, metadata }: ToolHookContext,
  calls: AdapterCalls,
): HookedTool {
  const isObject = typeof context === 'object' && context !== null;
  const invocation: Invocation = isObject ? context : {};
  const agentId = metadata?.agentId;
  const call = {
    toolName,
    arguments: argumentsOf(toolName, input),
    callId: invocation.toolCallId,
    sessionId: sessionOf(invocation, calls),
    agentId: typeof agentId === 'string' ? agentId : undefined,
    signal: invocation.abortSignal,
  };
  noteInConversation(calls, call, invocation.messages);
  const traceId = invocation.tracingContext?.currentSpan?.traceId;
  return { call, invocation, traced: { traceId, callId: invocation.toolCallId } };
}
