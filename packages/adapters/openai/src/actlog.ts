import { answersOf } from './answers.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const runner = client.chat.completions.runTools({ model, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * It takes the tools of `runTools` and the `functions` of the tool runner for the Responses API. A loop that is written
 * by hand, over Chat Completions or Responses, answers the model with `actlog.answers(functions)`.
 *
 * @returns the same tools, of the same types; those that only OpenAI can run are the same objects
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Runs what a model asks for, in a loop that is written by hand: recorded and guarded. */
  readonly answers: typeof answersOf;
} = Object.assign(recordTools, { answers: answersOf });
