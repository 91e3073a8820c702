import { answersOf } from './answers.ts';
import { recordMiddleware } from './middleware.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * It takes the tools of every tool runner: streamed, with `runToolsEagerly`, of a thread or of a session. A loop that
 * is written by hand answers its messages with `actlog.answers(functions)`. Calls that reach no tool of yours are
 * seen by `new Anthropic({ middleware: [actlog.middleware()] })`.
 *
 * @returns the same tools, of the same types; those that only Anthropic can run are the same objects
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Runs what a message asks for, in a loop that is written by hand: recorded and guarded. */
  readonly answers: typeof answersOf;
  /** A middleware for the client: records every tool call of its messages that nothing else has. */
  readonly middleware: typeof recordMiddleware;
} = Object.assign(recordTools, { answers: answersOf, middleware: recordMiddleware });
