import { recordIntervention } from './intervention.ts';
import { recordTools } from './tools.ts';

/**
 * Records every tool call of an agent, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const agent = new Agent({ model, tools, interventions: [actlog()] });
 * ```
 *
 * An agent that another one uses as a tool needs its own. Calls by hand, such as `agent.tool.search.invoke()`, pass
 * by every intervention: `actlog.tools(tools)` wraps the tools themselves.
 *
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export const actlog: typeof recordIntervention & {
  /** Wraps tools, so that calls by hand are recorded and guarded too. */
  readonly tools: typeof recordTools;
} = Object.assign(recordIntervention, { tools: recordTools });
