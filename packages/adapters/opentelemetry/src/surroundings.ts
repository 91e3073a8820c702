import { currentSessionId, type HookedCall } from '@actlog/recorder/adapter';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import { jsonOf, textOf } from './span-attributes.ts';
import { emitterOf, parentIdOf } from './span-origin.ts';

/** Attributes with the session, the most common first. */
const sessionKeys = [
  'gen_ai.conversation.id',
  'session.id',
  'anthropic.session.id',
  'gcp.vertex.agent.session_id',
  'mastra.metadata.threadId',
  'ai.settings.context.sessionId',
  'ai.telemetry.metadata.sessionId',
];

/** Attributes with the agent. */
const agentKeys = ['gen_ai.agent.id', 'gen_ai.agent.name', 'ai.telemetry.functionId'];

/**
 * Returns the session and the agent of a span: its own, else those of the nearest enclosing span. Without any, the
 * session is that of the surrounding `session.run`, else the trace, unless the span is the only one in it.
 */
export function surroundings(
  span: ReadableSpan,
  around: readonly ReadableSpan[],
): Pick<HookedCall, 'sessionId' | 'agentId'> {
  const sessionId = parentIdOf(span) === undefined ? ownSession(span, around) : conversationOf(span, around);
  return { sessionId, agentId: first([span, ...around], agentOf) };
}

/** Returns the session of the tool calls within a span. */
export function conversationOf(span: ReadableSpan, around: readonly ReadableSpan[]): string {
  return ownSession(span, around) ?? span.spanContext().traceId;
}

function ownSession(span: ReadableSpan, around: readonly ReadableSpan[]): string | undefined {
  const stated = first([span, ...around], ({ attributes }) => textOf(attributes, ...sessionKeys));
  return stated ?? currentSessionId();
}

function agentOf(span: ReadableSpan): string | undefined {
  const { attributes, name } = span;
  const agent = textOf(attributes, ...agentKeys);
  if (agent !== undefined) return agent;
  // Mastra sets the attributes of an agent's span only at its end, but its name earlier.
  if (emitterOf(span) === '@mastra/otel-bridge') return /^agent run: '(.+)'$/.exec(name)?.[1];
  return openInferenceAgent(textOf(attributes, 'metadata'));
}

/** Returns the agent from LangChain's metadata, which OpenInference passes on. */
function openInferenceAgent(metadata: string | undefined): string | undefined {
  if (!metadata?.includes('lc_agent_name')) return undefined;
  const { lc_agent_name: name } = (jsonOf(metadata) ?? {}) as { lc_agent_name?: unknown };
  return typeof name === 'string' ? name : undefined;
}

function first<Value>(
  spans: readonly ReadableSpan[],
  read: (span: ReadableSpan) => Value | undefined,
): Value | undefined {
  for (const span of spans) {
    const value = read(span);
    if (value !== undefined) return value;
  }
  return undefined;
}
