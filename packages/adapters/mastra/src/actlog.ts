import { recordSpans } from './exporter.ts';
import { recordAround, recordHooks } from './hooks.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const agent = new Agent({ id, name, instructions, model, tools, hooks: actlog() });
 * ```
 *
 * Hooks that a run is given take the place of the agent's hooks of the same name. Where you have hooks of your own, on
 * the agent or for a run, `actlog.around(hooks)` keeps both. An agent that another one delegates to needs its own.
 * Where Mastra runs tools without hooks, as in workflows and networks, and where a step of a run adds tools,
 * `actlog.tools(tools)` wraps them.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordHooks & {
  /** The same hooks with your own in them, for an agent or for a single run. */
  readonly around: typeof recordAround;
  /** Wraps tools for networks, workflows, code mode, steps and calls by hand: recorded and guarded wherever they run. */
  readonly tools: typeof recordTools;
  /** An exporter for `Observability`: records the calls of every agent and workflow that nothing else has. */
  readonly exporter: typeof recordSpans;
} = Object.assign(recordHooks, { around: recordAround, tools: recordTools, exporter: recordSpans });
