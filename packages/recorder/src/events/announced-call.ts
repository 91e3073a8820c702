import type { ArgumentOrigins } from '@actlog/protocol';
import { isResponseStatus } from '@actlog/tool-call';

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
  const { actionId, atMs, origins, subagent, parentAgentIds = [] } = value;
  if (!isTime(atMs)) return undefined;
  if ([actionId, subagent].some((text) => text !== undefined && typeof text !== 'string')) return undefined;
  if (!Array.isArray(parentAgentIds) || parentAgentIds.some((id) => typeof id !== 'string')) return undefined;
  return origins === undefined || (typeof origins === 'object' && origins !== null) ? value : undefined;
}

/** Parses the outcome of an event; undefined if it is not one, or that of another event. */
export function parseRecordedOutcome(json: string, eventId: string): RecordedOutcome | undefined {
  const value = JSON.parse(json) as (RecordedOutcome & { readonly eventId?: unknown }) | null;
  if (typeof value !== 'object' || value === null || value.eventId !== eventId) return undefined;
  return isResponseStatus(value.responseStatus) && isTime(value.atMs) ? value : undefined;
}

/** Returns `true` for a time that ISO 8601 can represent. */
function isTime(value: unknown): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 8.64e15;
}
