import type { HookedCall } from '@actlog/recorder/adapter';
import type { ToolHookContext } from '@mastra/core/tools';
import { argumentsOf } from './delegation.ts';
import type { TracedCall } from './recorded-calls.ts';
import { sessionOf } from './session.ts';
import type { Suspending } from './suspension.ts';
import type { LocatedSpan } from './traced-place.ts';

/** A span that is under way. */
export interface LiveSpan extends LocatedSpan {
  readonly id?: string;
  readonly traceId?: string;
  readonly parent?: LiveSpan;
}

/** What Mastra gives a tool beside its input, as far as a call is known by it. */
export interface Invocation extends Suspending {
  readonly toolCallId?: string;
  readonly messages?: object;
  readonly abortSignal?: AbortSignal;
  readonly requestContext?: { get(key: string): unknown };
  readonly tracingContext?: { readonly currentSpan?: LiveSpan };
}

/** What a hook is told of a call. */
export interface HookedTool {
  readonly call: HookedCall;
  /** The same object for both hooks of a call. */
  readonly invocation: Invocation;
  readonly traced: TracedCall;
}

/** A call as the recorder takes it. */
export function hookedTool({ toolName, input, context, metadata }: ToolHookContext): HookedTool {
  const isObject = typeof context === 'object' && context !== null;
  const invocation: Invocation = isObject ? context : {};
  const agentId = metadata?.agentId;
  const call = {
    toolName,
    arguments: argumentsOf(toolName, input),
    callId: invocation.toolCallId,
    sessionId: sessionOf(invocation),
    agentId: typeof agentId === 'string' ? agentId : undefined,
    signal: invocation.abortSignal,
  };
  const traceId = invocation.tracingContext?.currentSpan?.traceId;
  return { call, invocation, traced: { traceId, callId: invocation.toolCallId } };
}
