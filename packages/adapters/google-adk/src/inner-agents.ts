import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type BaseAgent,
  type BasePlugin,
  type BaseTool,
  isAgentTool,
  type SingleAgentCallback,
} from '@google/adk';

/** The plugins that the runner of an agent tool is still to get. */
const missing = new AsyncLocalStorage<BasePlugin[]>();

/**
 * Runs a tool. An agent used as a tool gets a runner of its own, without the plugins of the one around it; so its agents
 * are given a callback that brings it those which record, and does something only as such a run begins.
 */
export function withinAgentTool<Result>(
  tool: BaseTool,
  plugins: Iterable<BasePlugin>,
  run: () => Result,
): Result {
  if (!isAgentTool(tool)) return run();
  cover(Reflect.get(tool, 'agent'));
  return missing.run([...plugins], run);
}

/** The run begins with any of them: with the one that spoke last in the session. */
function cover(agent: BaseAgent | undefined): void {
  if (!agent) return;
  for (const subAgent of agent.subAgents) cover(subAgent);
  const own = agent.beforeAgentCallback;
  if (!own.includes(bringPlugins)) Object.assign(agent, { beforeAgentCallback: [bringPlugins, ...own] });
}

/** To the first runner alone: a tool within may have one of its own, which outlives this run. */
const bringPlugins: SingleAgentCallback = ({ invocationContext: { pluginManager } }) => {
  for (const plugin of missing.getStore()?.splice(0) ?? []) {
    if (!pluginManager.getPlugin(plugin.name)) pluginManager.registerPlugin(plugin);
  }
  return undefined;
};
