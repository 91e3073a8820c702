import { answersOf } from './answers.ts';
import { recordClient } from './client.ts';

/**
 * Records every function call that the SDK runs for a model, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const ai = actlog(new GoogleGenAI({ apiKey }));
 * ```
 *
 * Covers the callable tools of `models.generateContent`, `models.generateContentStream` and chats, also those of
 * `mcpToTool`. Modifies and returns the given client. In a manual loop, `actlog.answers(functions)` runs the functions.
 *
 * @throws TypeError when the target is no client
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordClient & {
  /** Runs the function calls of a model in a manual loop: recorded and guarded. */
  readonly answers: typeof answersOf;
} = Object.assign(recordClient, { answers: answersOf });
