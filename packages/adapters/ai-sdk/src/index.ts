/**
 * One line that records and guards every tool call of a Vercel AI SDK agent.
 *
 * @packageDocumentation
 */
export { actlog } from './actlog.ts';
export type { EndedStep } from './step-calls.ts';
export type { ActlogOptions, ActlogTelemetry } from './telemetry.ts';
