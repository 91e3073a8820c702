/**
 * Records every tool call of an agent that emits OpenTelemetry's GenAI tool spans.
 *
 * @packageDocumentation
 */
export { actlog } from './actlog.ts';
export type { ActlogOptions } from './options.ts';
