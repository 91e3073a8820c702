import { type AdapterOptions, refuseOptionsOfFunctions } from '@actlog/recorder/adapter';
import {
  type GeminiOutput,
  type GeminiToolContent,
  type LoopFunctions,
  callRunner as loopRunner,
  type RunTool,
} from '@actlog/recorder/loop';
import type { ContentListUnion, ContentUnion } from '@google/genai';
import { messagesOf, partsOf } from './contents.ts';
import { manualCalls } from './google-genai-calls.ts';

/** Options beside the model's response. */
export interface RunCallsOptions {
  /** Aborts the wait for a person's decision, and is passed to the functions. */
  readonly signal?: AbortSignal | undefined;
  /** The conversation so far, which identifies its session and has what the user wrote, for `origins`. */
  readonly contents?: ContentListUnion | undefined;
  /** The system instruction, for `origins`. */
  readonly systemInstruction?: ContentUnion | undefined;
}

/**
 * Runs all function calls of a response, of its content, or of a live session's `toolCall` at once, and returns the
 * contents with their responses: one, or none without calls. Errors of functions become responses for the model.
 *
 * @throws the reason of `signal` when it aborts while a call is held
 */
export type RunCalls = (response: GeminiOutput, options?: RunCallsOptions) => Promise<GeminiToolContent[]>;

/**
 * Creates the function that a manual loop calls with each response of its model.
 *
 * @param functions - functions by name, or one function for all
 */
export function callRunner(functions: LoopFunctions | RunTool, options?: AdapterOptions): RunCalls {
  refuseOptionsOfFunctions(functions, options, 'actlog.callRunner(functions, { guard })');
  const runCalls = loopRunner(manualCalls(options ?? {}), functions);
  return (response, { signal, contents, systemInstruction } = {}) =>
    runCalls(response, {
      signal,
      messages: contents === undefined ? undefined : messagesOf(contents),
      system: systemInstruction === undefined ? undefined : partsOf(systemInstruction),
    });
}
