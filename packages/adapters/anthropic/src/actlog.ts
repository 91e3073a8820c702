import { answersOf } from './answers.ts';
import { recordMiddleware } from './middleware.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * Accepts the tools of every tool runner: streamed, with `runToolsEagerly`, of a thread or of a session. In a manual
 * loop, `actlog.answers(functions)` runs the tools. To record calls that reach none of your tools, use `new Anthropic({
 * middleware: [actlog.middleware()] })`.
 *
 * @returns the same tools, of the same types; those that only Anthropic can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Runs the tool calls of a message in a manual loop: recorded and guarded. */
  readonly answers: typeof answersOf;
  /** Middleware for the client: records every tool call of its messages that nothing else records. */
  readonly middleware: typeof recordMiddleware;
} = Object.assign(recordTools, { answers: answersOf, middleware: recordMiddleware });
