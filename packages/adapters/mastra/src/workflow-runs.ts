import { AsyncLocalStorage } from 'node:async_hooks';
import { processWide } from '@actlog/recorder/adapter';

/** Ids of running workflows. */
const runs = processWide('@actlog/mastra/workflow-runs', () => new AsyncLocalStorage<string>());

/** Runs a step of a workflow. A workflow that is a step of another belongs to the run of that. */
export function inWorkflowRun<Result>(runId: string, step: () => Result): Result {
  return runs().run(runs().getStore() ?? runId, step);
}

/** Returns the id of the outermost running workflow, which lasts when the run is suspended and resumed. */
export function workflowRunId(): string | undefined {
  return runs().getStore();
}
