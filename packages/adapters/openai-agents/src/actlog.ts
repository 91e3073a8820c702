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
 * everything that a runner runs, and `actlog.install()` the whole process. If several cover a call, the nearest applies:
 * the call's own agent, then the agent that the run started with, then its runner, the outer run, the agent that reached
 * this one, and the process. Of several calls for the same target, the last applies.
 *
 * @returns the same agent or runner
 * @throws TypeError when it is an agent or a runner of another copy of `@openai/agents`, or neither
 * @throws when no recorder is given and the environment does not configure one; see `sharedRecorder`
 */
function recordTarget<Target extends AnyAgent | Runner>(
  target: Target & WithoutOptions,
  options?: ActlogOptions,
): Target {
  if (target instanceof Agent || target instanceof Runner) {
    install();
    refuseOptions(target, 'actlog(agent, { guard })');
    const calls = agentsCalls(options ?? {});
    if (target instanceof Agent) coverAgent(target, calls);
    else coverage().runners.set(target, calls);
    return target;
  }
  const given: unknown = target;
  if (typeof given === 'object' && given !== null && ('getAllTools' in given || 'run' in given)) {
    throw new TypeError(
      'The agent or runner belongs to another copy of @openai/agents. Install only one version, ' +
        'and load it with `import`: `require` loads a separate copy.',
    );
  }
  throw new TypeError(
    'actlog: the first argument must be an agent or a runner, as in actlog(agent, { guard }). ' +
      'actlog.install({ guard }) covers the whole process.',
  );
}

/** Covers the whole process, for `actlog.install()`. */
function installForProcess(options: ActlogOptions = {}): () => void {
  const calls = agentsCalls(options);
  install();
  return processCoverage.install(calls);
}

export const actlog: typeof recordTarget & {
  /**
   * Covers the whole process: records and guards the calls of all agents that nothing nearer covers. Of several installs,
   * the last one applies.
   *
   * Returns a function that ends the coverage.
   */
  readonly install: typeof installForProcess;
} = Object.assign(recordTarget, { install: installForProcess });
