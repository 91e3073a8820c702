import type { Dialect, ToolSpan } from './dialect.ts';
import { adkDialect } from './dialects/adk.ts';
import { aiSdkDialect } from './dialects/ai-sdk.ts';
import { aiSdkOtelDialect } from './dialects/ai-sdk-otel.ts';
import { anthropicDialect } from './dialects/anthropic.ts';
import { genAiDialect } from './dialects/gen-ai.ts';
import { genkitDialect } from './dialects/genkit.ts';
import { mastraDialect } from './dialects/mastra.ts';
import { openInferenceDialect } from './dialects/openinference.ts';
import { pydanticAiDialect } from './dialects/pydantic-ai.ts';
import { strandsDialect } from './dialects/strands.ts';
import { traceloopDialect } from './dialects/traceloop.ts';
import type { GenAiSpan } from './genai-span.ts';

/** The more specific formats come first, because some of them also use attributes of the general one. */
const dialects: readonly Dialect[] = [
  adkDialect,
  traceloopDialect,
  anthropicDialect,
  strandsDialect,
  mastraDialect,
  aiSdkOtelDialect,
  pydanticAiDialect,
  genAiDialect,
  aiSdkDialect,
  openInferenceDialect,
  genkitDialect,
];

/** Returns the tool call of a span from any emitter. */
export function toolSpanOf(span: GenAiSpan): ToolSpan | undefined {
  // Logfire announces a span that has started by another one.
  if (span.attributes['logfire.span_type'] === 'pending_span') return undefined;
  return dialects.find((dialect) => dialect.speaks(span))?.read(span);
}
