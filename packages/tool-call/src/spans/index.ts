/**
 * Reads tool calls from spans of any GenAI instrumentation. Does no I/O and keeps no spans.
 *
 * @packageDocumentation
 */
export type { ToolSpan } from './dialect.ts';
export { EmittedCalls, type Enclosing, enclosingOf, isMcpSpan, type SeenCall } from './emitted-calls.ts';
export {
  type GenAiSpan,
  jsonOf,
  type SpanAttributes,
  type SpanEvent,
  scopeOf,
  textOf,
} from './genai-span.ts';
export { isInterruption, spanOutcome, spanStatus } from './span-outcome.ts';
export { agentIn, numberedAgentIn, sessionIn } from './tool-facts.ts';
export { isUnknownToolSpan, toolSpanOf } from './tool-span.ts';
