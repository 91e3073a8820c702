import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { Dialect, ToolSpan } from './dialect.ts';
import { adkDialect } from './dialects/adk.ts';
import { aiSdkDialect } from './dialects/ai-sdk.ts';
import { aiSdkOtelDialect } from './dialects/ai-sdk-otel.ts';
import { anthropicDialect } from './dialects/anthropic.ts';
import { genAiDialect } from './dialects/gen-ai.ts';
import { genkitDialect } from './dialects/genkit.ts';
import { mastraDialect } from './dialects/mastra.ts';
import { openInferenceDialect } from './dialects/openinference.ts';
import { strandsDialect } from './dialects/strands.ts';
import { traceloopDialect } from './dialects/traceloop.ts';

/** The more particular come first: some of these families use the words of the general one too. */
const dialects: readonly Dialect[] = [
  adkDialect,
  traceloopDialect,
  anthropicDialect,
  strandsDialect,
  mastraDialect,
  aiSdkOtelDialect,
  genAiDialect,
  aiSdkDialect,
  openInferenceDialect,
  genkitDialect,
];

/** The tool call that a span is about, whoever emitted it. */
export function toolSpanOf(span: ReadableSpan): ToolSpan | undefined {
  return dialects.find((dialect) => dialect.speaks(span))?.read(span);
}
