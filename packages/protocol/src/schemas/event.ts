import * as z from 'zod';
import { toolCallCategory } from '../limits.ts';
import { looseObject, strictObject } from './object.ts';
import { type Accepted, resource } from './resource.ts';
import { identifier, line, timestamp } from './scalar.ts';

/** Payload of category `tool_api`. The arguments themselves are never on the wire. */
export const toolCallPayload = strictObject({
  /** Name of the tool called. */
  toolName: identifier,
  /** Hash of the call arguments, such as `sha256:…`. */
  argumentsHash: identifier,
  /** Status code of the tool's response, as in HTTP: from 400 on it counts as an error. */
  responseStatus: z.int32(),
}).meta({ id: 'ToolCallPayload' });

/** Payload of any other category: kept as it comes. */
export const openPayload = z.record(z.string(), z.unknown());

/** The event as it is sent (specification, "Event"): all seven fields are required by the profile. */
export const event = strictObject({
  /** UUID. Identifies the event and makes sending it again harmless. */
  eventId: z.uuid(),
  /** The agent that acted; it need not be registered. */
  agentId: identifier,
  /** The session that the event belongs to: the caller's own string, and the first event opens it. */
  sessionId: identifier,
  /** When it happened: ISO 8601 in UTC with a trailing `Z`. */
  sourceTimestamp: timestamp,
  /** Kind of event; `tool_api` for tool calls. 100 characters at most, and `guardian_decision` is the service's own. */
  category: line(100),
  /** Version of the event schema; `1.0`. */
  schemaVersion: line(20),
  /** What happened: for `tool_api` exactly the fields of a tool call, for others any object, kept as it comes. */
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
  })
  .meta({ id: 'ActivityEvent' });

/** A note in an acknowledgement: the event was kept, and something about it deserves a look. */
export const eventWarning = looseObject({
  /** Machine-readable code, such as `AGENT_NOT_REGISTERED`; new ones may come. */
  code: z.string(),
  /** The same for people, with what to do. */
  message: z.string(),
}).meta({ id: 'EventWarning' });

/** Answer of `POST /v1/events` (specification, "Event acknowledgement"). */
export const eventAck = resource(
  'EventAck',
  {
    /** UUID of the accepted event. */
    eventId: z.string(),
    /** When the service first took it: ISO 8601 with milliseconds, UTC. */
    receivedAt: timestamp,
    /** What deserves a look, though the event was kept; empty when there are no warnings. */
    warnings: z.array(eventWarning),
  },
  {},
);

const stored = {
  /** UUID that its sender gave it. */
  eventId: z.string(),
  /** The agent that acted. */
  agentId: z.string(),
  /** The session that it belongs to. */
  sessionId: z.string(),
  /** When it happened, by the clock of its sender. */
  sourceTimestamp: timestamp,
  /** Kind of event: `tool_api` for tool calls, `guardian_decision` for what the service itself writes. */
  category: z.string(),
  /** Version of the event schema. */
  schemaVersion: z.string(),
  /** What happened; its fields depend on the category. */
  payload: openPayload,
  /** When the service took it, by the clock of the service. */
  receivedAt: timestamp,
} as const;

/** The fields of {@link storedEvent}. */
export type StoredEventShape = { readonly [Field in keyof typeof stored]: (typeof stored)[Field] };

/** An event as it is read back. */
export const storedEvent = resource<Record<never, never>, StoredEventShape>('StoredEvent', {}, stored);

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
