import { recordAround, recordHooks } from './hooks.ts';
import { installHooks } from './install.ts';
import { recordTools } from './tools.ts';
import { recordSpans } from './tracing/exporter.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new Agent({ id, name, instructions, model, tools, hooks: actlog() });
 * ```
 *
 * `actlog.install()` does the same for all agents and tools of the process.
 *
 * Hooks passed to a run replace the agent's hooks of the same name. If you have your own hooks, on the agent or for a
 * run, `actlog.around(hooks)` combines both. Agents that another one delegates to are covered by that one's hooks.
 * If Mastra runs tools without hooks, as in workflows and networks, or if a step of a run adds tools, install the
 * adapter for the process or wrap them with `actlog.tools(tools)`.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordHooks & {
  /** Covers the whole process: every agent, network, workflow and code mode. Returns a function that ends that. */
  readonly install: typeof installHooks;
  /** Combines the hooks with your own, for an agent or for a single run. */
  readonly around: typeof recordAround;
  /** Wraps tools for networks, workflows, code mode, steps and manual calls: recorded and guarded wherever they run. */
  readonly tools: typeof recordTools;
  /** Exporter for `Observability`: records the calls of every agent and workflow that nothing else records. */
  readonly exporter: typeof recordSpans;
} = Object.assign(recordHooks, {
  install: installHooks,
  around: recordAround,
  tools: recordTools,
  exporter: recordSpans,
});
