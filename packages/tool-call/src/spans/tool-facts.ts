import type { ToolSpan } from './dialect.ts';
import { type GenAiSpan, jsonOf, textOf } from './genai-span.ts';
import { argumentsOf } from './tool-arguments.ts';

/** Attributes with the name of the tool, those of the conventions first. */
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

/** Reads a tool's span, whoever emitted it: each fact from the first attribute that has it. */
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
  // Results are long, and most are no message.
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
