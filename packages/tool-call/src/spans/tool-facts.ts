import type { Dialect, ToolSpan } from './dialect.ts';
import { type GenAiSpan, idOf, jsonOf, type SpanAttributes, scopeOf, textOf } from './genai-span.ts';
import { argumentsOf } from './tool-arguments.ts';

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
const agentNameKeys = [
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

/** Returns the agent that a span states: its id, unless that is generated, otherwise its name. */
export function agentIn(span: GenAiSpan): string | undefined {
  const { attributes, name } = span;
  const stated = chosenId(attributes) ?? textOf(attributes, ...agentNameKeys);
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

/** Instrumentation scope of Pydantic AI, with Logfire or without. */
const pydanticAi = 'pydantic-ai';

/**
 * Pydantic AI for Python (`InstrumentationSettings`), in all versions of its format: versions 1 and 2 have other names
 * for arguments and result, and no `gen_ai.operation.name`.
 */
export const pydanticAiDialect: Dialect = {
  speaks: (span) => scopeOf(span) === pydanticAi,
  read(span) {
    const { attributes } = span;
    const operation = textOf(attributes, 'gen_ai.operation.name') ?? 'execute_tool';
    if (textOf(attributes, 'gen_ai.tool.name') === undefined || operation !== 'execute_tool')
      return undefined;
    // A tool that waits for approval, or runs elsewhere, has not run; its span ends successfully.
    const isDeferred = attributes['pydantic_ai.tool.deferral.name'] !== undefined;
    const tool = toolFacts(span);
    return isDeferred ? { ...tool, errorName: 'InterruptError' } : tool;
  },
};

/** Attributes with the name of the tool, starting with OpenTelemetry's conventions. */
const nameKeys = [
  'gen_ai.tool.name',
  'tool.name',
  'traceloop.entity.name',
  'ai.toolCall.name',
  'genkit:name',
  'lk.function_tool.name',
  'spring.ai.tool.definition.name',
  'mcp.tool.name',
  'tool.function_name',
  'tool_call.function.name',
  'langsmith.trace.name',
];

/** Attributes with the id of the call. */
const callIdKeys = [
  'gen_ai.tool.call.id',
  'gen_ai.tool.call_id',
  'tool_call.id',
  'tool.id',
  'tool.call_id',
  'ai.toolCall.id',
  'lk.function_tool.id',
  'spring.ai.tool.call.id',
];

/** Attributes with the result. */
const resultKeys = [
  'gen_ai.tool.call.result',
  'anthropic.tool_result.content',
  'tool_response',
  'gcp.vertex.agent.tool_response',
  'ai.toolCall.result',
  'genkit:output',
  'output.value',
  'traceloop.entity.output',
  'spring.ai.tool.call.result',
  'lk.function_tool.output',
  'lk.pii.function_tool.output',
  'langfuse.observation.output',
  'mlflow.spanOutputs',
  'lmnr.span.output',
  'gen_ai.completion',
];

/** Attributes that state a failure of the tool although the span ended successfully. */
const failureFlags = [
  'lk.function_tool.is_error',
  'tool.is_error',
  'gen_ai.tool.is_error',
  'mcp.tool.is_error',
];

/** Names of errors by the words of `gen_ai.tool.status`. */
const statusErrors: ReadonlyMap<unknown, string> = new Map([
  ['error', 'Error'],
  ['failed', 'Error'],
  ['failure', 'Error'],
  ['timeout', 'TimeoutError'],
  ['cancelled', 'CancelledError'],
  ['canceled', 'CancelledError'],
]);

/** Reads a tool's span of any emitter: each fact from the first attribute that has it. */
export function toolFacts(span: GenAiSpan): ToolSpan {
  const { attributes } = span;
  const result = textOf(attributes, ...resultKeys);
  const answered = answeredCall(result);
  const toolName = textOf(attributes, ...nameKeys) ?? nameIn(span.name);
  const callId = textOf(attributes, ...callIdKeys) ?? answered.callId;
  return {
    toolName,
    callId,
    ...argumentsOf(span, toolName, callId),
    result,
    errorName: errorNameOf(span) ?? (answered.hasFailed ? 'Error' : undefined),
  };
}

function errorNameOf({ attributes }: GenAiSpan): string | undefined {
  const ofStatus = statusErrors.get(textOf(attributes, 'gen_ai.tool.status')?.toLowerCase());
  if (ofStatus !== undefined) return ofStatus;
  const hasFailed =
    failureFlags.some((key) => attributes[key] === true) ||
    attributes['langfuse.observation.level'] === 'ERROR';
  return hasFailed ? 'Error' : undefined;
}

/** Returns the name of the tool from the name of its span. */
function nameIn(spanName: string): string {
  return spanName.replace(/^(?:execute_tool|(?:MCP send )?tools\/call) /, '').replace(/(.)\.tool$/, '$1');
}

/** Call that a LangChain tool message belongs to. */
interface AnsweredCall {
  readonly toolName: string | undefined;
  readonly callId: string | undefined;
  /** `true` if the message reports an error of the tool to the model. */
  readonly hasFailed: boolean;
}

interface Message {
  readonly name?: unknown;
  readonly tool_call_id?: unknown;
  readonly status?: unknown;
}

/** A message as LangChain serializes it, or the fields of the message itself, as in Python. */
interface Serialized extends Message {
  readonly kwargs?: Message;
  readonly output?: Serialized;
}

/** Parses a serialized tool message, which LangChain tracers store in the span of a tool. */
export function answeredCall(output: string | undefined): AnsweredCall {
  // Results are long, and most are not messages.
  const message = output?.includes('tool_call_id')
    ? (jsonOf(output) as Serialized | null | undefined)
    : undefined;
  const answer = message?.output ?? message;
  const fields = answer?.kwargs ?? (answer?.tool_call_id === undefined ? {} : answer);
  const { name, tool_call_id: callId, status } = fields;
  return {
    toolName: typeof name === 'string' ? name : undefined,
    callId: typeof callId === 'string' ? callId : undefined,
    hasFailed: typeof callId === 'string' && status === 'error',
  };
}
