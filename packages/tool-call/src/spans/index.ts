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
export { agentIn, numberedAgentIn, sessionIn } from './session-and-agent.ts';
export { isInterruption } from './span-failure.ts';
export { spanOutcome, spanStatus } from './span-outcome.ts';
export { isUnknownToolSpan, toolSpanOf } from './tool-span.ts';
