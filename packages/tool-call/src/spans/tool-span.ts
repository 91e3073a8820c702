import type { Dialect, ToolSpan } from './dialect.ts';
import { adkDialect } from './dialects/adk.ts';
import { aiSdkOtelDialect } from './dialects/ai-sdk-otel.ts';
import { anthropicDialect } from './dialects/anthropic.ts';
import { genAiTool, isOfOtherKind } from './dialects/gen-ai.ts';
import { mastraDialect } from './dialects/mastra.ts';
import { pydanticAiDialect } from './dialects/pydantic-ai.ts';
import { strandsDialect } from './dialects/strands.ts';
import { traceloopDialect } from './dialects/traceloop.ts';
import type { GenAiSpan } from './genai-span.ts';

/** Formats that deviate from the general one. */
const dialects: readonly Dialect[] = [
  adkDialect,
  traceloopDialect,
  anthropicDialect,
  strandsDialect,
  mastraDialect,
  aiSdkOtelDialect,
  pydanticAiDialect,
];

/** Returns the tool call of a span from any emitter. */
export function toolSpanOf(span: GenAiSpan): ToolSpan | undefined {
  // Logfire announces a span that has started by another one.
  if (span.attributes['logfire.span_type'] === 'pending_span') return undefined;
  const dialect = dialects.find(({ speaks }) => speaks(span));
  return dialect ? dialect.read(span) : genAiTool(span);
}

/** Attributes of requests to a model, whose messages name tools and calls. */
const modelKeys = ['gen_ai.request.model', 'gen_ai.response.model', 'llm.request.type', 'llm.model_name'];

/** Longest name of an attribute that is compared. */
const maxNameLength = 200;

/** Name of an attribute with the name of a tool or the id of a call, but not of one in a list of messages. */
const namesTool = /^(?!.*\.\d+\.)(?:.*[._-])?tool[._-]?(?:call[._-]?|use[._-]?)?(?:name|id)$/i;

/**
 * Returns `true` if a span without a tool call that is understood looks like that of a tool nevertheless: it states no other
 * kind, and names a tool.
 */
export function isUnknownToolSpan(span: GenAiSpan): boolean {
  const { attributes, name } = span;
  if (attributes['logfire.span_type'] === 'pending_span') return false;
  if (dialects.some(({ speaks }) => speaks(span)) || isOfOtherKind(attributes)) return false;
  if (/^(?:execute_tool|tool_call|call_tool|tools\/call)\b/.test(name)) return true;
  return (
    modelKeys.every((key) => attributes[key] === undefined) &&
    Object.keys(attributes).some((key) => key.length <= maxNameLength && namesTool.test(key))
  );
}
