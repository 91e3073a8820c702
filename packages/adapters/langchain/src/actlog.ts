import { recordHandler } from './handler.ts';
import { recordMiddleware } from './middleware.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees what the other middleware makes of an error. Where there is no
 * middleware, `actlog.tools(tools)` wraps the tools of a graph, and `actlog.handler()` is a callback handler that
 * records only.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordMiddleware & {
  /** Wraps tools for a `ToolNode`, a graph or a call by hand: recorded and guarded. */
  readonly tools: typeof recordTools;
  /** A callback handler for `callbacks: [...]`: records only, and reaches sub-agents and sub-graphs. */
  readonly handler: typeof recordHandler;
} = Object.assign(recordMiddleware, { tools: recordTools, handler: recordHandler });
