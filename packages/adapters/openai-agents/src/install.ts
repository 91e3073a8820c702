import type { AdapterCalls } from '@actlog/recorder/adapter';
import { Agent, Runner, type Tool } from '@openai/agents';
import { coverage } from './coverage.ts';
import { hookTool } from './hooked-tool.ts';
import { recordedRun } from './recorded-run.ts';
import { currentRun } from './run-scope.ts';

/** On a hooked method, the original. */
export const hookedMethod: unique symbol = Symbol.for('@actlog/openai-agents/hooked-method') as never;

/** An agent of any context and output. */
interface CloneableAgent {
  readonly clone: (config: never) => unknown;
}

type Method<Result> = (...args: unknown[]) => Result;

/** Hooks the SDK's own classes, once: default runs, every runner, and agents inside of tools all go through them. */
export function install(): void {
  if (hookedMethod in Runner.prototype.run) return;
  hookMethod(Runner.prototype, 'run', recordedRun);
  hookMethod(Agent.prototype, 'getAllTools', async (agent, getAllTools: Method<Promise<Tool[]>>, args) => {
    const tools = await getAllTools.apply(agent, args);
    const run = currentRun();
    if (run && !run.hasSession) await run.sessionId(); // while the run's trace is at hand
    return tools.map(hookTool);
  });
}

/** Covers an agent, and what is cloned from it: a copy with other instructions is not to be a way past the guard. */
export function coverAgent(agent: CloneableAgent, calls: AdapterCalls): void {
  coverage().agents.set(agent, calls);
  // Kinds of agents, such as those of a sandbox, clone in ways of their own.
  let kind: CloneableAgent = agent;
  while (!Object.hasOwn(kind, 'clone')) kind = Object.getPrototypeOf(kind);
  if (hookedMethod in kind.clone) return;
  hookMethod(kind, 'clone', (cloned: CloneableAgent, clone: Method<CloneableAgent>, args) => {
    const copy = clone.apply(cloned, args);
    const own = coverage().agents.get(cloned);
    if (own) coverAgent(copy, own);
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
