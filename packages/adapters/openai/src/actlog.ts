import { answersOf } from './answers.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = client.chat.completions.runTools({ model, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * Accepts the tools of `runTools` and the `functions` of the tool runner for the Responses API. In a manual loop, over
 * Chat Completions or Responses, `actlog.answers(functions)` runs the tools.
 *
 * @returns the same tools, of the same types; those that only OpenAI can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Runs the tool calls of a model in a manual loop: recorded and guarded. */
  readonly answers: typeof answersOf;
} = Object.assign(recordTools, { answers: answersOf });
