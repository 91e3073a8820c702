import { Agent, Runner, type Tool } from '@openai/agents';
import { hookTool } from './hooked-tool.ts';
import { recordedRun } from './recorded-run.ts';
import { currentRun } from './run-scope.ts';

/** On a hooked method, the original. */
export const hookedMethod: unique symbol = Symbol.for('@actlog/openai-agents/hooked-method') as never;

type AnyMethod = (...args: unknown[]) => Promise<unknown>;

/** Hooks the SDK's own classes, once: default runs, every runner, and agents inside of tools all go through them. */
export function install(): void {
  if (hookedMethod in Runner.prototype.run) return;
  hookMethod(Runner.prototype, 'run', recordedRun);
  hookMethod(Agent.prototype, 'getAllTools', async (agent, getAllTools, args) => {
    const tools = (await getAllTools.apply(agent, args)) as Tool[];
    const run = currentRun();
    if (run && !run.hasSession) await run.sessionId(); // while the run's trace is at hand
    for (const { name } of tools) run?.toolNames.add(name);
    return tools.map(hookTool);
  });
}

/** Replaces a method by one that is given the original. */
function hookMethod<Target extends object>(
  prototype: Target,
  name: keyof Target & string,
  hook: (target: never, original: AnyMethod, args: unknown[]) => Promise<unknown>,
): void {
  const original = prototype[name] as AnyMethod;
  function hooked(this: never, ...args: unknown[]) {
    return hook(this, original, args);
  }
  const value = Object.assign(hooked, { [hookedMethod]: original });
  Object.defineProperty(prototype, name, { configurable: true, writable: true, value });
}
