import { pydanticAi } from './dialects/pydantic-ai.ts';
import { type GenAiSpan, idOf, jsonOf, type SpanAttributes, scopeOf, textOf } from './genai-span.ts';

/** Attributes with the session, the most common first. */
const sessionKeys = [
  'gen_ai.conversation.id',
  'session.id',
  'anthropic.session.id',
  'gcp.vertex.agent.session_id',
  'mastra.metadata.threadId',
  'ai.settings.context.sessionId',
  'ai.telemetry.metadata.sessionId',
  'ai.telemetry.metadata.threadId',
  // OpenLLMetry, `Traceloop.set_association_properties`, and the metadata of LangChain and LangGraph
  'traceloop.association.properties.session_id',
  'traceloop.association.properties.thread_id',
  'traceloop.association.properties.conversation_id',
  'langsmith.metadata.session_id',
  'langsmith.metadata.thread_id',
  'langsmith.metadata.conversation_id',
  'langfuse.session.id',
  'lmnr.association.properties.session_id',
  'mlflow.trace.session',
  'gen_ai.session.id',
];

/** Attributes with the name of the agent. */
const nameKeys = [
  'gen_ai.agent.name',
  'agent.name',
  'langsmith.metadata.lc_agent_name',
  'traceloop.association.properties.lc_agent_name',
];
/** Attributes with an id of the agent. */
const idKeys = ['gen_ai.agent.id', 'ai.telemetry.functionId'];

/** Part of an id that no person has chosen, such as a UUID or a ULID: frameworks number each run of an agent so. */
const generated = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{24}|^[0-9A-HJKMNP-TV-Z]{26}$/i;

/** Returns the session that a span states. */
export function sessionIn({ attributes }: Pick<GenAiSpan, 'attributes'>): string | undefined {
  return idOf(attributes, ...sessionKeys);
}

/** Returns the agent that a span states: its id, unless that is generated, else its name. */
export function agentIn(span: GenAiSpan): string | undefined {
  const { attributes, name } = span;
  const stated = chosenId(attributes) ?? textOf(attributes, ...nameKeys);
  if (stated !== undefined) return stated;
  // Mastra sets the attributes of an agent's span only at its end, but its name earlier.
  if (scopeOf(span) === '@mastra/otel-bridge') return /^agent run: '(.+)'$/.exec(name)?.[1];
  if (scopeOf(span) === pydanticAi) return textOf(attributes, 'agent_name');
  return openInferenceAgent(textOf(attributes, 'metadata'));
}

/** Returns the generated id of an agent, which identifies it only where no span, nor one around it, names the agent. */
export function numberedAgentIn({ attributes }: Pick<GenAiSpan, 'attributes'>): string | undefined {
  return textOf(attributes, ...idKeys);
}

function chosenId(attributes: SpanAttributes): string | undefined {
  return idKeys.map((key) => textOf(attributes, key)).find((id) => id !== undefined && !generated.test(id));
}

/** Returns the agent from LangChain's metadata, which OpenInference passes on. */
function openInferenceAgent(metadata: string | undefined): string | undefined {
  if (!metadata?.includes('lc_agent_name')) return undefined;
  const { lc_agent_name: name } = (jsonOf(metadata) ?? {}) as { lc_agent_name?: unknown };
  return typeof name === 'string' ? name : undefined;
}
