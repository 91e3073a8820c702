/**
 * Records and guards the tool calls of an agent that is a hand-written loop, over any provider.
 *
 * @packageDocumentation
 */

export type { AdapterOptions as ActlogOptions } from '../adapter/adapter-options.ts';
export { actlog } from './actlog.ts';
export type { CallContext, CallResult, LoopFunctions, RunTool } from './call-result.ts';
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
export { callRunner, type RunCalls, type RunCallsOptions } from './run-calls.ts';
