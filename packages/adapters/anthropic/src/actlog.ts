import { callRunner } from './call-runner.ts';
import { recordMiddleware } from './middleware.ts';
import { recordTools } from './tools.ts';

/**
 * Records every call of these tools, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const runner = client.beta.messages.toolRunner({ model, max_tokens, messages, tools: actlog([weather, sendMail]) });
 * ```
 *
 * Accepts the tools of every tool runner: streamed, with `runToolsEagerly`, of a thread or of a session. For a manual
 * loop, `actlog.callRunner(functions)` creates the function that runs the calls. To record calls that reach none of your tools, use `new Anthropic({
 * middleware: [actlog.middleware()] })`.
 *
 * @returns the same tools, of the same types; those that only Anthropic can run are the same objects
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordTools & {
  /** Creates the function that runs the calls of a message in a manual loop: recorded and guarded. */
  readonly callRunner: typeof callRunner;
  /** Middleware for the client: records every tool call of its messages that nothing else records. */
  readonly middleware: typeof recordMiddleware;
} = Object.assign(recordTools, { callRunner, middleware: recordMiddleware });
