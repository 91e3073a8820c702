import { type Method, processWide, withMethods } from '@actlog/recorder/adapter';
import { Agent, type Tool, type ToolContext } from '@strands-agents/sdk';
import { callsAround, processCoverage } from './coverage.ts';
import { callsOf, coverAgentOf } from './covered-agents.ts';
import { hookedMethods } from './hooked-methods.ts';
import { recordedStream } from './recorded-tool.ts';
import { isWrapped } from './wrapped-tools.ts';

/** Registry of an agent's tools; the oldest Strands versions have no `resolve`, and no direct calls. */
interface ToolRegistry {
  resolve?(name: string): Tool;
}

const hookedClasses = processWide('@actlog/strands/direct-calls', () => new WeakSet<object>());

/**
 * Hooks direct calls of an agent's tools, such as `agent.tool.search.invoke()`, which call no hooks. Strands does not
 * export the class of the registry, in which it looks up their tools and no others.
 */
export function hookDirectCalls(): void {
  const { prototype } = Agent;
  const get = Object.getOwnPropertyDescriptor(prototype, 'toolRegistry')?.get as
    | (() => ToolRegistry)
    | undefined;
  if (!get || hookedClasses().has(prototype)) return;
  hookedClasses().add(prototype);
  const hooked = function (this: Agent) {
    const registry = get.call(this);
    hookRegistries(Object.getPrototypeOf(registry) as ToolRegistry);
    return registry;
  };
  Object.defineProperty(prototype, 'toolRegistry', { configurable: true, get: hooked });
}

function hookRegistries(prototype: ToolRegistry): void {
  if (typeof prototype.resolve !== 'function') return;
  hookedMethods.hook(prototype as Required<ToolRegistry>, 'resolve', (registry: object, resolve, args) =>
    directTool((resolve as Method<Tool>).apply(registry, args)),
  );
}

function directTool(tool: Tool): Tool {
  return withMethods(tool, {
    stream: (context: ToolContext) => {
      const calls = callsOf(context.agent) ?? callsAround() ?? processCoverage.current;
      if (!calls) return tool.stream(context);
      coverAgentOf(tool, calls);
      const isRecorded = calls.covers(tool.name) && !isWrapped(tool);
      return isRecorded ? recordedStream(tool, calls, context) : tool.stream(context);
    },
  });
}
