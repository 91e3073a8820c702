import { type AdapterOptions, refuseOptionsOfFunctions } from '@actlog/recorder/adapter';
import {
  type GeminiOutput,
  type GeminiToolContent,
  type LoopFunctions,
  callRunner as loopRunner,
  type RunTool,
} from '@actlog/recorder/loop';
import type { ContentListUnion, ContentUnion } from '@google/genai';
import { manualCalls, messagesOf, partsOf, recordClient } from './client.ts';

/**
 * Records every function call that the SDK runs for a model, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const ai = actlog(new GoogleGenAI({ apiKey }));
 * ```
 *
 * Covers the callable tools of `models.generateContent`, `models.generateContentStream` and chats, including tools of
 * `mcpToTool`. Modifies and returns the given client. For a manual loop, `actlog.callRunner(functions)` creates
 * the function that runs the calls.
 *
 * @throws TypeError when the target is not a client
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordClient & {
  /** Creates the function that runs the calls of a model in a manual loop: recorded and guarded. */
  readonly callRunner: typeof callRunner;
} = Object.assign(recordClient, { callRunner });

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
function callRunner(functions: LoopFunctions | RunTool, options?: AdapterOptions): RunCalls {
  refuseOptionsOfFunctions(functions, options, 'actlog.callRunner(functions, { guard })');
  const runCalls = loopRunner(manualCalls(options ?? {}), functions);
  return (response, { signal, contents, systemInstruction } = {}) =>
    runCalls(response, {
      signal,
      messages: contents === undefined ? undefined : messagesOf(contents),
      system: systemInstruction === undefined ? undefined : partsOf(systemInstruction),
    });
}
