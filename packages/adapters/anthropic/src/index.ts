/**
 * One line that records and guards every tool call of an agent built on the Anthropic SDK.
 *
 * @packageDocumentation
 */
export { actlog } from './actlog.ts';
export type { ActlogOptions } from './anthropic-calls.ts';
export type {
  LoopFunctions,
  RunCalls,
  RunCallsOptions,
  RunToolUse,
  ToolResultMessage,
  ToolUseContext,
} from './call-runner.ts';
