import type { AdapterOptions as ActlogOptions } from '@actlog/recorder/adapter';
import { Agent, Runner } from '@openai/agents';
import { agentsCalls } from './agents-calls.ts';
import { coverage } from './coverage.ts';
import { coverAgent, install } from './install.ts';

/** Agents of every context and output. */
// biome-ignore lint/suspicious/noExplicitAny: the SDK's own variance asks for it
type AnyAgent = Agent<any, any>;

/**
 * Records every tool call of an agent, and guards it where the recorder's guard says so:
 *
 * ```ts
 * const agent = actlog(new Agent({ name: 'support', model, tools }));
 * ```
 *
 * That is the agent itself, with its handoffs and the agents among its tools, through whatever runner it runs.
 * `actlog(runner)` covers what a runner runs, and `actlog()` the whole process. Where several cover a call, the nearest
 * one counts: the call's own agent, then the agent that the run began with, then its runner, the run around it, and the
 * process. Called again for the same, the last one counts.
 *
 * @returns the very same agent or runner; for the whole process, a function that ends it
 * @throws TypeError when it is an agent or a runner of another copy of `@openai/agents`
 * @throws when neither a recorder is given nor the environment holds one that can be used; see `sharedRecorder`
 */
export function actlog<Target extends AnyAgent | Runner>(target: Target, options?: ActlogOptions): Target;
export function actlog(options?: ActlogOptions): () => void;
export function actlog(
  target: AnyAgent | Runner | ActlogOptions = {},
  options?: ActlogOptions,
): AnyAgent | Runner | (() => void) {
  install();
  if (target instanceof Agent || target instanceof Runner) {
    const calls = agentsCalls(options ?? {});
    if (target instanceof Agent) coverAgent(target, calls);
    else coverage().runners.set(target, calls);
    return target;
  }
  if ('getAllTools' in target || 'run' in target) {
    throw new TypeError(
      'actlog was given an agent or a runner of another copy of @openai/agents. Keep one version of it installed, ' +
        'and load it by `import`: what `require` loads is a copy of its own.',
    );
  }
  return coverProcess(target);
}

function coverProcess(options: ActlogOptions): () => void {
  const calls = agentsCalls(options);
  const covered = coverage();
  covered.process = calls;
  return () => {
    if (covered.process === calls) covered.process = undefined;
  };
}
