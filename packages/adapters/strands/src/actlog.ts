import { installForProcess } from './install.ts';
import { recordIntervention } from './intervention.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = new Agent({ model, tools, interventions: [actlog()] });
 * ```
 *
 * Agents that this one uses as tools, those that its tools run, and those that share a swarm or a graph with it, are
 * covered too. `actlog.install()` covers all agents of the process. Calls without an agent, such as `search.invoke()`,
 * bypass both: `actlog.tools(tools)` wraps the tools themselves. If several cover a call, the nearest applies: a wrapped
 * tool, the agent's own intervention, the call whose tool runs the agent, the agent that reached it, the process.
 *
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordIntervention & {
  /**
   * Covers the whole process: records and guards the calls of all agents that nothing nearer covers, in their next runs,
   * also of those that exist already. Of several installs, the last one applies.
   *
   * Returns a function that ends the coverage; runs that have begun end as they began.
   */
  readonly install: typeof installForProcess;
  /** Wraps tools, so that manual calls are recorded and guarded too. */
  readonly tools: typeof recordTools;
} = Object.assign(recordIntervention, { install: installForProcess, tools: recordTools });
