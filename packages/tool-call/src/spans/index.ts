/**
 * Reads tool calls from spans of any GenAI instrumentation. Does no I/O and keeps no spans.
 *
 * @packageDocumentation
 */
export type { ToolSpan } from './dialect.ts';
export {
  type GenAiSpan,
  jsonOf,
  type SpanAttributes,
  type SpanEvent,
  scopeOf,
  textOf,
} from './genai-span.ts';
export { agentIn, numberedAgentIn, sessionIn } from './tool-facts.ts';
export {
  EmittedCalls,
  type Enclosing,
  enclosingOf,
  innerOutcome,
  isInterruption,
  isMcpSpan,
  isUnknownToolSpan,
  type SeenCall,
  spanOutcome,
  spanStatus,
  toolSpanOf,
} from './tool-span.ts';
