/**
 * One line that records and guards every tool call of an agent built on the openai package.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export { actlog } from './actlog.ts';
export type { CallContext, RunCall, ToolFunctions } from './answered-call.ts';
export type { AnswerOptions, Answers, CallOutput, ChatToolMessage } from './answers.ts';
export type { ChatAnswer, ResponsesAnswer } from './asked-call.ts';
export type { AnyTool } from './tools.ts';
