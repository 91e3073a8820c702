import { typeName } from './option-checks.ts';
import type { ResponseStatusMapping } from './response-status.ts';

/** A tool call that is about to run. */
export interface ToolCall {
  /** Name of the tool, as the model knows it. */
  readonly toolName: string;
  /** What the tool is called with. Only its hash leaves the process, and what `guard.showArguments` shows. */
  readonly arguments: unknown;
  /** The session; default: that of the surrounding `session.run`, else the recorder's own. */
  readonly sessionId?: string | undefined;
  /** The agent; default: the recorder's. */
  readonly agentId?: string | undefined;
  /** The framework's id of the call: lets two hooks of one framework know the call as the same. */
  readonly callId?: string | undefined;
  /** Ends the wait for a person's approval; a call aborted by then never runs. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names the action through repeated checks. Give one only where the same call comes again, as after a workflow was
   * interrupted and resumed; default, also for an empty one: one of its own for every call.
   */
  readonly actionId?: string | undefined;
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration. */
  readonly sdk?: string | undefined;
  /** The status of this call, before the recorder's own mapping is asked. */
  readonly responseStatusOf?: ResponseStatusMapping | undefined;
}

/** The facts of a tool call that has happened: with its arguments, or with their hash. */
export type ToolCallFacts = {
  /** Name of the tool, as the model knows it. */
  readonly toolName: string;
  /** HTTP status of the outcome; see the README for those without one. */
  readonly responseStatus: number;
  /** The session; default: that of the surrounding `session.run`, else the recorder's own. */
  readonly sessionId?: string | undefined;
  /** The agent; default: the recorder's. */
  readonly agentId?: string | undefined;
  /** When it happened: a Date, or ISO 8601 in UTC with a trailing `Z`; default: now. */
  readonly sourceTimestamp?: Date | string | undefined;
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration. */
  readonly sdk?: string | undefined;
} & (
  | { readonly arguments: unknown; readonly argumentsHash?: undefined }
  | { readonly argumentsHash: string; readonly arguments?: undefined }
);

/**
 * Refuses what is no call, before anything is asked or recorded of it. What `run` was given may be the promise of a tool
 * that was called beforehand, and runs unguarded.
 *
 * @throws TypeError when the call is no object or `run` no function
 */
export function checkToolCall(call: unknown, run: unknown): void {
  if (typeof call !== 'object' || call === null) {
    throw noCall('call', 'an object, such as {toolName, arguments}', call);
  }
  if (typeof run !== 'function') {
    throw noCall('run', 'a function that calls the tool, such as () => search(args)', run);
  }
}

function noCall(parameter: string, wanted: string, given: unknown): TypeError {
  return new TypeError(`toolCall: ${parameter} must be ${wanted}, and is of type ${typeName(given)}.`);
}
