import { pydanticAi } from './dialects/pydantic-ai.ts';
import { type GenAiSpan, scopeOf } from './genai-span.ts';
import { jsonOf, textOf } from './span-attributes.ts';

/** Attributes with the session, the most common first. */
const sessionKeys = [
  'gen_ai.conversation.id',
  'session.id',
  'anthropic.session.id',
  'gcp.vertex.agent.session_id',
  'mastra.metadata.threadId',
  'ai.settings.context.sessionId',
  'ai.telemetry.metadata.sessionId',
  // OpenLLMetry, `Traceloop.set_association_properties`
  'traceloop.association.properties.session_id',
];

/** Attributes with the agent. */
const agentKeys = ['gen_ai.agent.id', 'gen_ai.agent.name', 'ai.telemetry.functionId'];

/** Returns the session that a span states. */
export function sessionIn({ attributes }: Pick<GenAiSpan, 'attributes'>): string | undefined {
  return textOf(attributes, ...sessionKeys);
}

/** Returns the agent that a span states. */
export function agentIn(span: GenAiSpan): string | undefined {
  const { attributes, name } = span;
  const agent = textOf(attributes, ...agentKeys);
  if (agent !== undefined) return agent;
  // Mastra sets the attributes of an agent's span only at its end, but its name earlier.
  if (scopeOf(span) === '@mastra/otel-bridge') return /^agent run: '(.+)'$/.exec(name)?.[1];
  if (scopeOf(span) === pydanticAi) return textOf(attributes, 'agent_name');
  return openInferenceAgent(textOf(attributes, 'metadata'));
}

/** Returns the agent from LangChain's metadata, which OpenInference passes on. */
function openInferenceAgent(metadata: string | undefined): string | undefined {
  if (!metadata?.includes('lc_agent_name')) return undefined;
  const { lc_agent_name: name } = (jsonOf(metadata) ?? {}) as { lc_agent_name?: unknown };
  return typeof name === 'string' ? name : undefined;
}
