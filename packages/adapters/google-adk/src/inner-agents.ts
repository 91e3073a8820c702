import { AsyncLocalStorage } from 'node:async_hooks';
import {
  type BaseAgent,
  type BasePlugin,
  type BaseTool,
  isAgentTool,
  type SingleAgentCallback,
} from '@google/adk';

/** Plugins that the runner of an agent tool has not received yet. */
const missing = new AsyncLocalStorage<BasePlugin[]>();

/**
 * Runs a tool. An agent used as a tool gets its own runner without the plugins of the outer one, so a callback is added
 * to its agents that registers the recording plugins. The callback does nothing outside such a run.
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

/**
 * Adds the callback to an agent and its subagents, because the run may start with any of them: the one that was last
 * active in the session.
 */
function cover(agent: BaseAgent | undefined): void {
  if (!agent) return;
  for (const subAgent of agent.subAgents) cover(subAgent);
  const own = agent.beforeAgentCallback;
  if (!own.includes(bringPlugins)) Object.assign(agent, { beforeAgentCallback: [bringPlugins, ...own] });
}

/**
 * Registers the plugins, only with the first runner: an inner tool may have its own runner, which outlives this run.
 */
const bringPlugins: SingleAgentCallback = ({ invocationContext: { pluginManager } }) => {
  for (const plugin of missing.getStore()?.splice(0) ?? []) {
    if (!pluginManager.getPlugin(plugin.name)) pluginManager.registerPlugin(plugin);
  }
  return undefined;
};
