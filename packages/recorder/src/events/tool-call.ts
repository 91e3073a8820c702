import type { ArgumentChanges, ArgumentOrigins } from '@actlog/protocol';
import { isResponseStatus, type ResponseStatusMapping } from '@actlog/tool-call';
import { typeName } from '../lib/option-checks.ts';

/** A tool call that is about to run. */
export interface ToolCall {
  /** Name of the tool, as the model sees it. */
  readonly toolName: string;
  /** Arguments of the call. Only their hash leaves the process, and the parts selected by `guard.showArguments`. */
  readonly arguments: unknown;
  /** Id of the session; default: the surrounding `session.run`, otherwise the recorder's session. */
  readonly sessionId?: string | undefined;
  /** Id of the agent; default: the recorder's. */
  readonly agentId?: string | undefined;
  /** Name of the subagent that makes the call. It does not count as an agent. Default: none. */
  readonly subagent?: string | undefined;
  /**
   * Agents that the agent runs inside, nearest first: their policies, rates and revocation apply too. Default: the agents
   * of the calls that this one runs inside.
   */
  readonly parentAgentIds?: readonly string[] | undefined;
  /**
   * The framework's name of the agent, where `agentId` is one that the user chose for several: an agent with another name
   * inside a call is a subagent. Default: none.
   */
  readonly agentName?: string | undefined;
  /** The framework's id of the call, by which two hooks of one framework recognize the same call. */
  readonly callId?: string | undefined;
  /** Aborts the wait for a person's decision. A call aborted by then never runs. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Id of the action in repeated checks. Pass one only if the same call is repeated, for example when an interrupted
   * workflow is resumed. Default, also for an empty string: a new one for every call.
   */
  readonly actionId?: string | undefined;
  /**
   * W3C `traceparent` of the call, which leads from its event and decision to its trace. An invalid value is reported to
   * `onError` and left out. Default: from the active OpenTelemetry span, otherwise the session's.
   */
  readonly traceparent?: string | undefined;
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration. */
  readonly sdk?: string | undefined;
  /**
   * Returns what the model sees of the result, for `origins`, where `run` returns an object of the framework. Default:
   * the result itself.
   */
  readonly resultOf?: ((result: unknown) => unknown) | undefined;
  /** Returns the status of this call. Takes precedence over the recorder's mapping. */
  readonly responseStatusOf?: ResponseStatusMapping | undefined;
  /**
   * The same call as announced by the side of a connection that makes it. Its event, action, agent and session are used
   * if its tool and arguments hash match this call.
   */
  readonly announced?: AnnouncedCall | undefined;
  /** Called with what was recorded. */
  readonly onRecorded?: ((outcome: RecordedOutcome) => void) | undefined;
  /**
   * `true` if `run` calls the tool with the arguments that it receives, so that an approver may change them. Default:
   * `false`; an approval of changed arguments then denies the call.
   */
  readonly acceptsChanges?: boolean | undefined;
  /**
   * Schema of the arguments, such as one of zod, if `run` does not validate them: a Standard Schema, one of the AI SDK, or a
   * function that returns one. Arguments that an approver changed are validated by it, and run as they were approved; the
   * call is denied if it does not permit them. Default: changed arguments are not validated.
   */
  readonly schema?: unknown;
}

/** Change of a call's arguments by an approver. */
export interface ApprovedChange {
  /** Arguments to run the tool with. */
  readonly arguments: unknown;
  /** Changed values, by path such as `amount` or `address.city`. */
  readonly changes: ArgumentChanges;
  /** Sentence for the model that requested the call, with the changed values and the approver's comment. */
  readonly notice: string;
}

/**
 * Function that runs a tool.
 *
 * @param args - arguments of the call; those that an approver changed, if the call accepts changes
 * @param change - the approver's change; undefined for none
 */
export type RunCall<Result> = (args: unknown, change: ApprovedChange | undefined) => Result | Promise<Result>;

/** Facts of a tool call that has happened, with its arguments or their hash. */
export type ToolCallFacts = {
  /** Name of the tool, as the model sees it. */
  readonly toolName: string;
  /** HTTP status of the outcome; see the README for outcomes without one. */
  readonly responseStatus: number;
  /** Id of the session; default: the surrounding `session.run`, otherwise the recorder's session. */
  readonly sessionId?: string | undefined;
  /** Id of the agent; default: the recorder's. */
  readonly agentId?: string | undefined;
  /** Name of the subagent that makes the call. It does not count as an agent. Default: none. */
  readonly subagent?: string | undefined;
  /**
   * Agents that the agent runs inside, nearest first. Default: none.
   */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** Time of the call: a Date, or ISO 8601 in UTC with a trailing `Z`; default: now. */
  readonly sourceTimestamp?: Date | string | undefined;
  /** Result of the call, as the model sees it. Used only for `origins`, and never sent. */
  readonly result?: unknown;
  /**
   * W3C `traceparent` of the call, which leads from its event and decision to its trace. An invalid value is reported to
   * `onError` and left out. Default: from the active OpenTelemetry span, otherwise the session's.
   */
  readonly traceparent?: string | undefined;
  /** Name of the AI framework, such as `langchain`. */
  readonly framework?: string | undefined;
  /** Identifier and version of the integration. */
  readonly sdk?: string | undefined;
} & (
  | { readonly arguments: unknown; readonly argumentsHash?: undefined }
  | { readonly argumentsHash: string; readonly arguments?: undefined }
);

/**
 * Rejects invalid calls before anything is checked or recorded. `run` may by mistake be the promise of a tool that was
 * already called and runs unguarded.
 *
 * @throws TypeError when the call is not an object or `run` not a function
 */
export function checkToolCall(call: unknown, run: unknown): void {
  if (typeof call !== 'object' || call === null) {
    throw invalidCall('call', 'an object, such as {toolName, arguments}', call);
  }
  if (typeof run !== 'function') {
    throw invalidCall('run', 'a function that calls the tool, such as () => search(args)', run);
  }
}

function invalidCall(parameter: string, wanted: string, given: unknown): TypeError {
  return new TypeError(`toolCall: ${parameter} must be ${wanted}, got ${typeName(given)}.`);
}

/** Subagent that makes a call, and the agents around its agent. */
export interface CallPlace {
  /** Name of the agent's subagent; undefined for none. */
  readonly subagent?: string | undefined;
  /** Agents that the agent runs inside, nearest first. */
  readonly parentAgentIds?: readonly string[] | undefined;
}

/**
 * A call as one side of a connection announces it to the other, so that both record the same event and check the same
 * action.
 */
export interface AnnouncedCall {
  readonly eventId: string;
  /** Time of the announcement, in Unix milliseconds. */
  readonly atMs: number;
  readonly agentId: string;
  readonly sessionId: string;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** Id of the action that was or would be checked. */
  readonly actionId?: string | undefined;
  /** Name of the agent's subagent that makes the call. */
  readonly subagent?: string | undefined;
  /** Agents that the agent runs inside, nearest first. */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** Origins of the arguments, if the announcing side traces them. */
  readonly origins?: ArgumentOrigins | undefined;
  /** Hash of the requested arguments, if an approver changed them. */
  readonly changedFrom?: string | undefined;
}

/** Outcome that one side recorded of a call that the other side announced. */
export interface RecordedOutcome {
  readonly responseStatus: number;
  /** Time of the event, in Unix milliseconds. */
  readonly atMs: number;
}

const uuid = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;
const texts = ['eventId', 'agentId', 'sessionId', 'toolName', 'argumentsHash'] as const;

/** Parses an announcement; undefined if it is not one, for example of a later version. */
export function parseAnnouncedCall(json: string): AnnouncedCall | undefined {
  const value = JSON.parse(json) as AnnouncedCall | null;
  if (typeof value !== 'object' || value === null) return undefined;
  if (!texts.every((name) => typeof value[name] === 'string') || !uuid.test(value.eventId)) return undefined;
  const { actionId, atMs, changedFrom, origins, subagent, parentAgentIds = [] } = value;
  if (!isTime(atMs)) return undefined;
  if ([actionId, changedFrom, subagent].some((text) => text !== undefined && typeof text !== 'string'))
    return undefined;
  if (!Array.isArray(parentAgentIds) || parentAgentIds.some((id) => typeof id !== 'string')) return undefined;
  return origins === undefined || (typeof origins === 'object' && origins !== null) ? value : undefined;
}

/** Parses the outcome of an event; undefined if it is not an outcome or belongs to another event. */
export function parseRecordedOutcome(json: string, eventId: string): RecordedOutcome | undefined {
  const value = JSON.parse(json) as (RecordedOutcome & { readonly eventId?: unknown }) | null;
  if (typeof value !== 'object' || value === null || value.eventId !== eventId) return undefined;
  return isResponseStatus(value.responseStatus) && isTime(value.atMs) ? value : undefined;
}

/** Returns `true` for a time that ISO 8601 can represent. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 8.64e15;
}
