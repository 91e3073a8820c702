import type { ToolSpan } from '../dialect.ts';
import type { GenAiSpan, SpanAttributes } from '../genai-span.ts';
import { textOf } from '../span-attributes.ts';
import { toolFacts } from '../tool-facts.ts';

/** Names of the operation: that of the conventions, and others that emitters give it. */
const toolOperations: readonly unknown[] = ['execute_tool', 'tool_call', 'call_tool', 'tools/call', 'tool'];

/** Other operations of the conventions, whose spans may also name a tool. */
const otherOperations: readonly unknown[] = [
  'chat',
  'create_agent',
  'embeddings',
  'generate_content',
  'invoke_agent',
  'invoke_workflow',
  'retrieval',
  'text_completion',
];

/** Attributes in which emitters state the kind of a span, in any case, and some of them as JSON. */
const kindKeys = [
  'openinference.span.kind',
  'traceloop.span.kind',
  'langsmith.span.kind',
  'langfuse.observation.type',
  'mlflow.spanType',
  'lmnr.span.type',
  'agentops.span.kind',
  'gen_ai.span.kind',
  'fi.span.kind',
  'spring.ai.kind',
  'fastmcp.component.type',
  // Genkit's second kind is for tools that return several parts.
  'genkit:metadata:subtype',
  'ai.operationId',
];
const toolKind = /^"?(?:tool|tool_call|tool\.v2|ai\.toolCall)"?$/i;

/**
 * Returns the tool call of a span by OpenTelemetry's semantic conventions for GenAI ("Execute tool span"), and of the
 * emitters that state the kind of a span in an attribute of their own, such as OpenInference, Genkit, the Vercel AI SDK
 * and MCP, or that only name the tool.
 */
export function genAiTool(span: GenAiSpan): ToolSpan | undefined {
  return isTool(span.attributes) ? toolFacts(span) : undefined;
}

function isTool(attributes: SpanAttributes): boolean {
  const operation = attributes['gen_ai.operation.name'];
  if (toolOperations.includes(operation)) return true;
  const method = attributes['mcp.method.name'];
  if (method !== undefined) return method === 'tools/call';
  if (kindKeys.some((key) => attributes[key] !== undefined && toolKind.test(String(attributes[key])))) {
    return true;
  }
  if (isOfOtherKind(attributes)) return false;
  return textOf(attributes, 'gen_ai.tool.name', 'lk.function_tool.name') !== undefined;
}

/** Returns `true` if a span that is not of a tool states another kind. */
export function isOfOtherKind(attributes: SpanAttributes): boolean {
  return (
    attributes['mcp.method.name'] !== undefined ||
    otherOperations.includes(attributes['gen_ai.operation.name']) ||
    kindKeys.some((key) => attributes[key] !== undefined)
  );
}
