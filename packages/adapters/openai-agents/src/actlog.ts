import {
  type AdapterOptions as ActlogOptions,
  refuseOptions,
  type WithoutOptions,
} from '@actlog/recorder/adapter';
import { Agent, Runner } from '@openai/agents';
import { agentsCalls } from './agents-calls.ts';
import { coverage, processCoverage } from './coverage.ts';
import { install } from './install.ts';
import { coverAgent } from './reached-agents.ts';

/** Agents of every context and output. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own variance asks for it
type AnyAgent = Agent<any, any>;

/**
 * Records every tool call of an agent, and guards it if the recorder's guard is on:
 *
 * ```ts
 * const agent = actlog(new Agent({ name: 'support', model, tools }));
 * ```
 *
 * This covers the agent itself, its handoffs and the agents among its tools, with any runner. Agents that it has
 * reached stay covered in later runs, such as `run(result.lastAgent, result.history)`. `actlog(runner)` covers
 * everything that a runner runs, and `actlog()` the whole process. If several cover a call, the nearest applies: the
 * call's own agent, then the agent that the run started with, then its runner, the outer run, the agent that reached
 * this one, and the process. Of several calls for the same target, the last applies.
 *
 * @returns the same agent or runner; for the whole process, a function that ends the coverage
 * @throws TypeError when it is an agent or a runner of another copy of `@openai/agents`
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
export function actlog<Target extends AnyAgent | Runner>(
  target: Target & WithoutOptions,
  options?: ActlogOptions,
): Target;
export function actlog(options?: ActlogOptions): () => void;
export function actlog(
  target: AnyAgent | Runner | ActlogOptions = {},
  options?: ActlogOptions,
): AnyAgent | Runner | (() => void) {
  install();
  if (target instanceof Agent || target instanceof Runner) {
    refuseOptions(target, 'actlog(agent, { guard })');
    const calls = agentsCalls(options ?? {});
    if (target instanceof Agent) coverAgent(target, calls);
    else coverage().runners.set(target, calls);
    return target;
  }
  if ('getAllTools' in target || 'run' in target) {
    throw new TypeError(
      'The agent or runner belongs to another copy of @openai/agents. Install only one version, ' +
        'and load it with `import`: `require` loads a separate copy.',
    );
  }
  if (options !== undefined) {
    throw new TypeError(
      'actlog: options are second only for an agent or a runner, actlog(agent, { guard }).',
    );
  }
  return processCoverage.install(agentsCalls(target));
}
