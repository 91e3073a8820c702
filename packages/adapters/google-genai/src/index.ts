/**
 * One line that records and guards every function call that the Google Gen AI SDK runs for a model.
 *
 * @packageDocumentation
 */
export type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
export type {
  CallContext,
  GeminiOutput,
  GeminiToolContent,
  LoopFunctions,
  RunTool,
} from '@actlog/recorder/loop';
export { actlog, type RunCalls, type RunCallsOptions } from './actlog.ts';
export type { GenAIClient } from './client.ts';
