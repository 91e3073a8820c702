/**
 * Records and guards the tool calls of an agent that is a hand-written loop, over any provider.
 *
 * @packageDocumentation
 */

export type { AdapterOptions as ActlogOptions } from '../adapter/adapter-option-checks.ts';
export { actlog, callRunner, type RunCalls, type RunCallsOptions } from './actlog.ts';

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
export type { PlainCall } from './formats/output-format.ts';
export {
  type CallContext,
  type CallResult,
  type LoopFunctions,
  type RequestedCall,
  type RunContext,
  type RunTool,
  runCall,
} from './run-call.ts';
