/**
 * One line that records and guards every tool call of an agent built on the openai package.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export type { CallContext, ChatToolMessage, LoopFunctions, RunTool } from '@actlog/recorder/loop';
export { actlog } from './actlog.ts';
export type { CallOutput, RunCalls, RunCallsOptions } from './call-runner.ts';
export type { ChatOutput, ResponsesOutput } from './model-output.ts';
export type { AnyTool } from './tools.ts';
