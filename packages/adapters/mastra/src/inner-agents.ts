import { MethodHooks, processWide } from '@actlog/recorder/adapter';
import { Agent } from '@mastra/core/agent';
import type { ToolHooks } from '@mastra/core/tools';
import { currentScope } from './call-scope.ts';
import { processCoverage } from './process-coverage.ts';

const methods = new MethodHooks('@actlog/mastra/hooked-methods');

/** Hooks that record. */
const recording = processWide('@actlog/mastra/recording-hooks', () => new WeakSet<object>());

/** Notes that hooks record, so that an agent with them receives no others. */
export function noteRecording({ beforeToolCall, afterToolCall }: ToolHooks): void {
  for (const hook of [beforeToolCall, afterToolCall]) if (hook) recording().add(hook);
}

/**
 * Makes agents inside a covered call, such as those that a covered agent delegates to, use the hooks of the outer
 * agent, and all agents of a covered process those of the process. Mastra passes hooks to no inner agent, so they are
 * added in the undocumented method that gives an agent its hooks.
 */
export function hookInnerAgents(): void {
  const prototype = Agent.prototype as unknown as { wrapToolsWithHooks?: unknown };
  if (!prototype.wrapToolsWithHooks) return;
  methods.hook(prototype, 'wrapToolsWithHooks', (agent, wrapTools, args) => {
    const [tools, hooks] = args as [unknown, ToolHooks | undefined];
    return wrapTools.call(agent, tools, coveredHooks(hooks));
  });
}

function coveredHooks(own: ToolHooks | undefined): ToolHooks | undefined {
  const isRecording = [own?.beforeToolCall, own?.afterToolCall].some((hook) => hook && recording().has(hook));
  if (isRecording) return own;
  return currentScope()?.cover?.(own ?? {}) ?? processCoverage.current?.cover(own) ?? own;
}
