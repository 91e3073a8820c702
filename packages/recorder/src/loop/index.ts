/**
 * Records and guards the tool calls of an agent that is a hand-written loop, over any provider.
 *
 * @packageDocumentation
 */

export type { AdapterOptions as ActlogOptions } from '../adapter/adapter-options.ts';
export { actlog } from './actlog.ts';
export { callRunner, type RunCalls, type RunCallsOptions } from './call-runner.ts';

export type {
  ChatOutput,
  ChatToolMessage,
  MistralOutput,
  MistralToolMessage,
  OllamaOutput,
  OllamaToolMessage,
} from './formats/chat.ts';
export type { ConverseOutput, ConverseToolMessage } from './formats/converse.ts';
export type { GeminiOutput, GeminiToolContent } from './formats/gemini.ts';
export type { PlainCall } from './formats/plain.ts';
export type { RequestedCall } from './requested-call.ts';
export {
  type CallContext,
  type CallResult,
  type LoopFunctions,
  type RunContext,
  type RunTool,
  runCall,
} from './run-call.ts';
