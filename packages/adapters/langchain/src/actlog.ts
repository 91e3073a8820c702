import { recordHandler } from './handler.ts';
import { recordMiddleware } from './middleware.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees how other middleware handles an error. Without middleware,
 * `actlog.tools(tools)` wraps the tools of a graph, and `actlog.handler()` is a callback handler that only records.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordMiddleware & {
  /** Wraps tools for a `ToolNode`, a graph or manual calls: recorded and guarded. */
  readonly tools: typeof recordTools;
  /** Callback handler for `callbacks: [...]`: records only, including sub-agents and sub-graphs. */
  readonly handler: typeof recordHandler;
} = Object.assign(recordMiddleware, { tools: recordTools, handler: recordHandler });
