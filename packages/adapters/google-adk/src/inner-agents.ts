import { AsyncLocalStorage } from 'node:async_hooks';
import type { AdapterCalls } from '@actlog/recorder/adapter';
import {
  type BaseAgent,
  type BaseTool,
  type Context,
  isAgentTool,
  isLlmAgent,
  type SingleBeforeToolCallback,
} from '@google/adk';

/** How the calls of agents within an agent tool are recorded. */
export interface InnerRecording {
  readonly recordedBy: ReadonlySet<AdapterCalls>;
  readonly record: (tool: BaseTool, context: Context, calls: AdapterCalls) => void;
}

/** That of the agent tool that is running. */
const recordings = new AsyncLocalStorage<InnerRecording>();

/**
 * Runs a tool. An agent used as a tool gets a runner of its own, without the plugins of the one around it; so its agents
 * are given a callback, which does something only within such a run.
 */
export function withinAgentTool<Result>(
  tool: BaseTool,
  recording: InnerRecording,
  run: () => Result,
): Result {
  if (!isAgentTool(tool)) return run();
  cover(Reflect.get(tool, 'agent'));
  return recordings.run(recording, run);
}

function cover(agent: BaseAgent | undefined): void {
  for (const subAgent of agent?.subAgents ?? []) cover(subAgent);
  if (!agent || !isLlmAgent(agent)) return;
  const own = agent.canonicalBeforeToolCallbacks;
  if (!own.includes(recordInner)) agent.beforeToolCallback = [recordInner, ...own];
}

const recordInner: SingleBeforeToolCallback = ({ tool, context }) => {
  const recording = recordings.getStore();
  for (const calls of recording?.recordedBy ?? []) recording?.record(tool, context, calls);
  return undefined;
};
