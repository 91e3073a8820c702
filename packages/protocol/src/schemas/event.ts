import * as z from 'zod';
import { toolCallCategory } from '../limits.ts';
import { type Accepted, resource } from './resource.ts';
import { identifier, line, timestamp } from './scalar.ts';

/** Payload of category `tool_api`. The arguments themselves are never on the wire. */
export const toolCallPayload = z.strictObject({
  /** Name of the tool called. */
  toolName: identifier,
  /** Hash of the call arguments, such as `sha256:…`. */
  argumentsHash: identifier,
  /** Status code of the tool's response. */
  responseStatus: z.int32(),
});

/** Payload of any other category: kept as it comes. */
export const openPayload = z.record(z.string(), z.unknown());

/** The event as it is sent (specification, "Event"): all seven fields are required by the profile. */
export const event = z
  .strictObject({
    /** UUID. Identifies the event and makes sending it again harmless. */
    eventId: z.uuid(),
    /** The agent that acted. */
    agentId: identifier,
    /** The session that the event belongs to. */
    sessionId: identifier,
    /** When it happened: ISO 8601 in UTC with a trailing `Z`. */
    sourceTimestamp: timestamp,
    /** Kind of event; `tool_api` for tool calls. */
    category: line(100),
    /** Version of the event schema; `1.0`. */
    schemaVersion: line(20),
    /** What happened; its fields depend on the category. */
    payload: z.union([toolCallPayload, openPayload], 'must be an object'),
  })
  .check((context) => {
    if (context.value.category !== toolCallCategory) return;
    const payload = toolCallPayload.safeParse(context.value.payload);
    if (payload.success) return;
    for (const issue of payload.error.issues) {
      context.issues.push({
        ...issue,
        input: context.value.payload,
        path: ['payload', ...issue.path],
      } as z.core.$ZodRawIssue);
    }
  });

/** A note in an acknowledgement: the event was kept, and something about it deserves a look. */
export const eventWarning = z.looseObject({ code: z.string(), message: z.string() });

/** Answer of `POST /v1/events` (specification, "Event acknowledgement"). */
export const eventAck = resource(
  'EventAck',
  {
    /** UUID of the accepted event. */
    eventId: z.string(),
    /** When the service took it: ISO 8601 with milliseconds, UTC. */
    receivedAt: timestamp,
    /** Empty when there are no warnings. */
    warnings: z.array(eventWarning),
  },
  {},
);

/** An event as it is read back. */
export const storedEvent = resource(
  'StoredEvent',
  {},
  {
    eventId: z.string(),
    agentId: z.string(),
    sessionId: z.string(),
    sourceTimestamp: timestamp,
    category: z.string(),
    schemaVersion: z.string(),
    payload: openPayload,
    receivedAt: timestamp,
  },
);

/** Payload of a `tool_api` event. */
export type ToolCallPayload = z.output<typeof toolCallPayload>;
/** An event with all seven fields, as it stands on the wire. */
export type ActivityEvent = z.output<typeof event>;
/** A note in an event acknowledgement. */
export type EventWarning = z.output<typeof eventWarning>;
/** Acknowledgement of an event. */
export type EventAck = Accepted<typeof eventAck>;
/** An event as it is read back. */
export type StoredEvent = Accepted<typeof storedEvent>;
