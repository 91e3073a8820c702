import { recordHandler } from './handler.ts';
import { installForProcess } from './install.ts';
import { recordMiddleware } from './middleware.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = createAgent({ model, tools, middleware: [actlog()] });
 * ```
 *
 * Put it first in the list, so that it sees how other middleware handles an error. `actlog.install()` covers all agents,
 * graphs and tools of the process. Without middleware, `actlog.tools(tools)` wraps the tools of a graph, and
 * `actlog.handler()` is a callback handler that only records. If several cover a call, the nearest applies: a wrapped
 * tool or the agent's own middleware, then the call around it, then the process.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordMiddleware & {
  /**
   * Covers the whole process: records and guards the calls of all agents, tool nodes and tools that nothing nearer
   * covers, also of those that exist already. Of several installs, the last one applies.
   *
   * Returns a function that ends the coverage; calls that are already running end as they began.
   */
  readonly install: typeof installForProcess;
  /** Wraps tools for a `ToolNode`, a graph or manual calls: recorded and guarded. */
  readonly tools: typeof recordTools;
  /** Callback handler for `callbacks: [...]`: records only, including sub-agents and sub-graphs. */
  readonly handler: typeof recordHandler;
} = Object.assign(recordMiddleware, {
  install: installForProcess,
  tools: recordTools,
  handler: recordHandler,
});
