import type { StoredEvent } from '@actlog/client';
import { type PathOrigin, readOrigins } from '../argument-origins.ts';
import { deniedStatus } from './event-marks.ts';

/** Category of the events that say where the arguments of a call came from. */
const originsCategory = 'argument_origins';

/** Origins of the arguments of a call, from one event. */
export interface CallOrigins {
  /** Id of the event with the origins. */
  readonly eventId: string;
  /** Id of the call's event. */
  readonly callId: string;
  readonly origins: readonly PathOrigin[];
}

/** Category of the events that name the subagent of a call, or the agents that its agent runs inside. */
const subagentCategory = 'subagent_call';

/** An event with the origins of its arguments, and with its subagent. */
export interface EventRow {
  readonly event: StoredEvent;
  /** Origins of a call's arguments; undefined if none of the events has any. */
  readonly origins: CallOrigins | undefined;
  /** Payload of the event that names the subagent of a call; undefined if none of the events does. */
  readonly place?: StoredEvent['payload'] | undefined;
  /** Policy that denied or held the action of the event; undefined if none of the events names it. */
  readonly policy?: DecidingPolicy | undefined;
}

/** Policy of a decision, as the decision's event names it. */
export interface DecidingPolicy {
  readonly id: string;
  readonly name: string | undefined;
}

/** Identifies an action, which is decided before its call is reported. */
function actionOf({ payload }: StoredEvent): string {
  return JSON.stringify([payload?.toolName, payload?.argumentsHash]);
}

/** Returns the policy of a decision against an action; undefined for other events. */
function policyOf({ category, payload }: StoredEvent): DecidingPolicy | undefined {
  if (category !== 'guardian_decision' || typeof payload?.policyId !== 'string') return undefined;
  return {
    id: payload.policyId,
    name: typeof payload.policyName === 'string' ? payload.policyName : undefined,
  };
}

/** Returns the id of the call whose subagent an event names. */
function placedCall({ category, payload }: StoredEvent): string | undefined {
  const isPlace = category === subagentCategory && typeof payload?.eventId === 'string';
  return isPlace ? String(payload.eventId).toLowerCase() : undefined;
}

function callOrigins({ eventId = '', category, payload }: StoredEvent): CallOrigins | undefined {
  if (category !== originsCategory || typeof payload?.eventId !== 'string') return undefined;
  const origins = readOrigins(payload.origins);
  // The service returns ids in lower case, and payloads as they were sent.
  return origins && { eventId, callId: payload.eventId.toLowerCase(), origins };
}

/** `true` if the row is an event about a call that is not among the events. */
export function isApart({ event, origins }: EventRow): boolean {
  return origins !== undefined && origins.eventId === event.eventId;
}

/**
 * Joins events with argument origins or the name of a subagent to their calls, which keep their order. An event whose
 * call is missing, or has an earlier event about it, keeps a separate row.
 */
export function eventRows(events: readonly StoredEvent[]): readonly EventRow[] {
  const calls = new Set(
    events.filter(({ category }) => category === 'tool_api').map(({ eventId }) => eventId),
  );
  const ofCalls = new Map<string, CallOrigins>();
  const apart = new Map<StoredEvent, CallOrigins>();
  const places = new Map<string, StoredEvent['payload']>();
  const joined = new Set<StoredEvent>();
  const deciding = new Map<string, DecidingPolicy>();
  const policies = new Map<StoredEvent, DecidingPolicy>();
  for (const event of events) {
    const policy = policyOf(event);
    if (policy !== undefined) {
      deciding.set(actionOf(event), policy);
      policies.set(event, policy);
    } else if (event.payload?.responseStatus === deniedStatus) {
      const denying = deciding.get(actionOf(event));
      if (denying !== undefined) policies.set(event, denying);
    }
    const placed = placedCall(event);
    if (placed !== undefined && calls.has(placed) && !places.has(placed)) {
      places.set(placed, event.payload);
      joined.add(event);
    }
    const origins = callOrigins(event);
    if (origins === undefined) continue;
    if (calls.has(origins.callId) && !ofCalls.has(origins.callId)) {
      ofCalls.set(origins.callId, origins);
      joined.add(event);
    } else {
      apart.set(event, origins);
    }
  }
  return events
    .filter((event) => !joined.has(event))
    .map((event) => ({
      event,
      origins: apart.get(event) ?? ofCalls.get(event.eventId ?? ''),
      place: places.get(event.eventId ?? ''),
      policy: policies.get(event),
    }));
}

/** Maximum number of events per page of the reference server. */
export const eventPageSize = 200;

/** Formats milliseconds since the start of the session: +1.204 s, +0:03:07. */
function sinceStart(ms: number): string {
  if (Math.abs(ms) < 60_000) return `${ms < 0 ? '' : '+'}${(ms / 1000).toFixed(3)} s`;
  const seconds = Math.trunc(ms / 1000);
  const [hours, minutes] = [Math.trunc(seconds / 3600), Math.trunc(seconds / 60) % 60];
  const two = (number: number) => String(Math.abs(number)).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${Math.abs(hours)}:${two(minutes)}:${two(seconds % 60)}`;
}

/** Formats the time of an event from the start of its session; the time of day if either is not known. */
export function timeSinceStart(at: string | undefined, startedAt: string | undefined): string {
  const ms = Date.parse(at ?? '') - Date.parse(startedAt ?? '');
  return Number.isNaN(ms) ? (at ?? '') : sinceStart(ms);
}

/** Returns the element id of an event: of its row, or of its part in the row of another event. */
export function rowId(eventId: string): string {
  return `event-${eventId}`;
}
