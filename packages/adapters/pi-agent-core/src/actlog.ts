import { type AdapterOptions, refuseOptions, type WithoutOptions } from '@actlog/recorder/adapter';
import { coverAgent } from './covered-agents.ts';
import { isPiAgent, type PiAgent } from './pi-agent.ts';
import { piCalls } from './pi-calls.ts';
import { recordTools } from './recorded-tools.ts';

function recordAgent<Instance extends PiAgent>(
  agent: Instance & WithoutOptions<'sessionId'>,
  options: AdapterOptions = {},
): Instance {
  if (!isPiAgent(agent)) {
    throw new TypeError(
      'actlog: the first argument must be an Agent of pi-agent-core: pass actlog(new Agent({ … }), { guard }).',
    );
  }
  const isOwn = (_value: unknown, name: string) => name === 'sessionId';
  refuseOptions(agent, 'actlog(agent, { guard })', isOwn);
  coverAgent(agent, piCalls(options));
  return agent;
}

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = actlog(new Agent({ initialState: { model, tools }, streamFn }));
 * ```
 *
 * Agents that its tools run are covered too. An agent with its own `actlog()` keeps it. Of several calls for one agent,
 * the last applies to its next runs. For loops without an agent, such as `agentLoop`, `actlog.tools(tools)` wraps the tools.
 *
 * @returns the same agent
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export const actlog: typeof recordAgent & {
  /** Wraps tools for loops without an agent. Covers the calls that reach a tool. */
  readonly tools: typeof recordTools;
} = Object.assign(recordAgent, { tools: recordTools });
