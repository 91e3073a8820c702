import type { StoredEvent } from '@actlog/client';
import { type PathOrigin, readOrigins } from '../argument-origins.ts';

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

/** An event with the origins of its arguments. */
export interface EventRow {
  readonly event: StoredEvent;
  /** Origins of a call's arguments; undefined if none of the events has any. */
  readonly origins: CallOrigins | undefined;
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
 * Joins events that say where arguments came from to their calls, which keep their order. An event whose call is not
 * among them, or has an earlier event about it, keeps a row of its own.
 */
export function eventRows(events: readonly StoredEvent[]): readonly EventRow[] {
  const calls = new Set(
    events.filter(({ category }) => category === 'tool_api').map(({ eventId }) => eventId),
  );
  const ofCalls = new Map<string, CallOrigins>();
  const apart = new Map<StoredEvent, CallOrigins>();
  const joined = new Set<StoredEvent>();
  for (const event of events) {
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
    .map((event) => ({ event, origins: apart.get(event) ?? ofCalls.get(event.eventId ?? '') }));
}
