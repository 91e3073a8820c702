import { callRunner } from './call-runner.ts';
import { recordClient } from './client.ts';

/**
 * Records every function call that the SDK runs for a model, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const ai = actlog(new GoogleGenAI({ apiKey }));
 * ```
 *
 * Covers the callable tools of `models.generateContent`, `models.generateContentStream` and chats, also those of
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
