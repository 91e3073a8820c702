import { callRunner } from './call-runner.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = client.chat.completions.runTools({ model, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * Accepts the tools of `runTools` and the `functions` of the tool runner for the Responses API. For a manual
 * loop, over Chat Completions or Responses, `actlog.callRunner(functions)` creates the function that runs the calls.
 *
 * @returns the same tools, of the same types; those that only OpenAI can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Creates the function that runs the calls of a model in a manual loop: recorded and guarded. */
  readonly callRunner: typeof callRunner;
} = Object.assign(recordTools, { callRunner });
