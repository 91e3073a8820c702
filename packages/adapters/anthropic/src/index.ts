/**
 * One line that records and guards every tool call of an agent built on the Anthropic SDK.
 *
 * @packageDocumentation
 */
export { actlog } from './actlog.ts';
export type { AnsweredMessage, Answers, RunToolUse, ToolFunctions, ToolUseContext } from './answers.ts';
export type { ActlogOptions } from './options.ts';
