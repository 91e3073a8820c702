import type { AdapterOptions } from '@actlog/recorder/adapter';
import {
  callRunner,
  type GeminiOutput,
  type GeminiToolContent,
  type LoopFunctions,
  type RunTool,
} from '@actlog/recorder/loop';
import type { ContentListUnion, ContentUnion } from '@google/genai';
import { messagesOf, partsOf } from './contents.ts';
import { manualCalls } from './google-genai-calls.ts';

/** Options beside the model's response. */
export interface AnswerOptions {
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
export type Answers = (response: GeminiOutput, given?: AnswerOptions) => Promise<GeminiToolContent[]>;

/** Creates the helper behind `actlog.answers()`. */
export function answersOf(functions: LoopFunctions | RunTool, options: AdapterOptions = {}): Answers {
  const answer = callRunner(manualCalls(options), functions);
  return (response, { signal, contents, systemInstruction } = {}) =>
    answer(response, {
      signal,
      messages: contents === undefined ? undefined : messagesOf(contents),
      system: systemInstruction === undefined ? undefined : partsOf(systemInstruction),
    });
}
