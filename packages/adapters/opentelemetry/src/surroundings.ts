import { currentSessionId, type HookedCall } from '@actlog/recorder/adapter';
import { agentIn, type GenAiSpan, numberedAgentIn, sessionIn } from '@actlog/tool-call/spans';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { parentIdOf } from './parent-id.ts';

/**
 * Returns the session and the agent of a span: its own, else those of the nearest enclosing span. Without any, the
 * session is that of the surrounding `session.run`, else the trace, unless the span is the only one in it.
 */
export function surroundings(
  span: ReadableSpan,
  around: readonly ReadableSpan[],
): Pick<HookedCall, 'sessionId' | 'agentId'> {
  const spans = [span, ...around];
  const sessionId = parentIdOf(span) === undefined ? ownSession(span, around) : conversationOf(span, around);
  return { sessionId, agentId: first(spans, agentIn) ?? first(spans, numberedAgentIn) };
}

/** Returns the session of the tool calls within a span. */
export function conversationOf(span: ReadableSpan, around: readonly ReadableSpan[]): string {
  return ownSession(span, around) ?? span.spanContext().traceId;
}

function ownSession(span: ReadableSpan, around: readonly ReadableSpan[]): string | undefined {
  return first([span, ...around], sessionIn) ?? currentSessionId();
}

function first(
  spans: readonly GenAiSpan[],
  read: (span: GenAiSpan) => string | undefined,
): string | undefined {
  for (const span of spans) {
    const value = read(span);
    if (value !== undefined) return value;
  }
  return undefined;
}
