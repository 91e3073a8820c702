/**
 * Records every tool call of an agent that emits OpenTelemetry's GenAI tool spans.
 *
 * @packageDocumentation
 */
export { type ActlogOptions, actlog } from './actlog.ts';
