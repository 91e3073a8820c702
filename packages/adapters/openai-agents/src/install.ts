import { Agent, Runner, type Tool } from '@openai/agents';
import { coverage } from './coverage.ts';
import { hookTool } from './hooked-tool.ts';
import { recordedRun } from './recorded-run.ts';
import { currentRun } from './run-scope.ts';

/** On a hooked method, the original. */
export const hookedMethod: unique symbol = Symbol.for('@actlog/openai-agents/hooked-method') as never;

type Method<Result> = (...args: unknown[]) => Result;

/** Hooks the SDK's own classes, once: default runs, every runner, and agents inside of tools all go through them. */
export function install(): void {
  if (hookedMethod in Runner.prototype.run) return;
  hookMethod(Runner.prototype, 'run', recordedRun);
  hookMethod(Agent.prototype, 'getAllTools', async (agent, getAllTools: Method<Promise<Tool[]>>, args) => {
    const tools = await getAllTools.apply(agent, args);
    const run = currentRun();
    if (run && !run.hasSession) await run.sessionId(); // while the run's trace is at hand
    for (const { name } of tools) run?.toolNames.add(name);
    return tools.map(hookTool);
  });
  // A copy with other instructions, say, is not to be a way past the guard.
  hookMethod(Agent.prototype, 'clone', (agent, clone: Method<Agent>, args) => {
    const { agents } = coverage();
    const calls = agents.get(agent);
    const copy = clone.apply(agent, args);
    if (calls) agents.set(copy, calls);
    return copy;
  });
}

/** Replaces a method by one that is given the original. */
function hookMethod<Target extends object, Result>(
  prototype: Target,
  name: keyof Target & string,
  hook: (target: never, original: Method<Result>, args: unknown[]) => Result,
): void {
  const original = prototype[name] as Method<Result>;
  function hooked(this: never, ...args: unknown[]) {
    return hook(this, original, args);
  }
  const value = Object.assign(hooked, { [hookedMethod]: original });
  Object.defineProperty(prototype, name, { configurable: true, writable: true, value });
}
