import { type HookedCall, processWide } from '@actlog/recorder/adapter';
import type { BaseTool, Context } from '@google/adk';

/** What is found out about one run of a tool while it runs. */
export interface ToolRun {
  readonly context: Context;
  /** The tool is a function of the user's, behind checks of ADK's own. */
  readonly isFunction: boolean;
  /** The tool is a node of a workflow. */
  readonly isNode: boolean;
  /** That function was called. */
  hasReachedFunction: boolean;
  /** What the function threw: ADK throws another error instead, which keeps only its words. */
  thrown?: unknown;
}

/** Runs by their calls, for who is asked how a call ended. */
export const runsOfCalls: () => WeakMap<HookedCall, ToolRun> = processWide(
  '@actlog/google-adk/runs-of-calls',
  () => new WeakMap(),
);

/** What tools threw, by the errors that ADK made of it. */
export const thrownErrors: () => WeakMap<object, unknown> = processWide(
  '@actlog/google-adk/thrown-errors',
  () => new WeakMap(),
);

/** What ADK knows a node that is used as a tool by; its own function for that is not exported. */
export function isNodeTool(tool: BaseTool): boolean {
  return Symbol.for('google.adk.workflow.nodeTool') in tool;
}

/** Whether the tool asked for a person or for credentials instead, and will be run again when it has them. */
export function awaitsAnswer({ context }: Pick<ToolRun, 'context'>): boolean {
  const { actions, functionCallId = '' } = context;
  return [actions.requestedToolConfirmations, actions.requestedAuthConfigs].some(
    (requests) => requests !== undefined && functionCallId in requests,
  );
}
