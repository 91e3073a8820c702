import { type HookedCall, processWide } from '@actlog/recorder/adapter';
import type { BaseTool, Context } from '@google/adk';

/** Facts collected during a run of a tool. */
export interface ToolRun {
  readonly context: Context;
  /** `true` if the tool is a user function behind ADK's own checks. */
  readonly isFunction: boolean;
  /** `true` if the tool is a node of a workflow. */
  readonly isNode: boolean;
  /** `true` if that function was called. */
  hasReachedFunction: boolean;
  /** Error thrown by the function; ADK throws a different one with the same text. */
  thrown?: unknown;
}

/** Runs by their calls, for the mapping of outcomes. */
export const runsOfCalls: () => WeakMap<HookedCall, ToolRun> = processWide(
  '@actlog/google-adk/runs-of-calls',
  () => new WeakMap(),
);

/** Errors of tools, by the errors that ADK created from them. */
export const thrownErrors: () => WeakMap<object, unknown> = processWide(
  '@actlog/google-adk/thrown-errors',
  () => new WeakMap(),
);

/** Returns `true` for a node used as a tool, by the symbol that ADK checks; its own function is not exported. */
export function isNodeTool(tool: BaseTool): boolean {
  return Symbol.for('google.adk.workflow.nodeTool') in tool;
}

/** Returns `true` if the tool requested a confirmation or credentials and will run again with them. */
export function awaitsInput({ context }: Pick<ToolRun, 'context'>): boolean {
  const { actions, functionCallId = '' } = context;
  return [actions.requestedToolConfirmations, actions.requestedAuthConfigs].some(
    (requests) => requests !== undefined && functionCallId in requests,
  );
}
