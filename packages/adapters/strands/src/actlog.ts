import { recordIntervention } from './intervention.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new Agent({ model, tools, interventions: [actlog()] });
 * ```
 *
 * Agents that this one uses as tools, and those that share a swarm or a graph with it, are covered too, unless they
 * have their own intervention. Manual calls, such as `agent.tool.search.invoke()`, bypass every intervention:
 * `actlog.tools(tools)` wraps the tools themselves.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordIntervention & {
  /** Wraps tools, so that manual calls are recorded and guarded too. */
  readonly tools: typeof recordTools;
} = Object.assign(recordIntervention, { tools: recordTools });
