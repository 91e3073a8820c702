import * as z from 'zod';
import { limits, toolCallCategory } from '../limits.ts';
import { callerIdentity } from './check.ts';
import { type Accepted, resource } from './resource.ts';
import { identifier, line, looseObject, resourceId, strictObject, timestamp } from './scalar.ts';

/** Payload of category `tool_api`. Arguments are never sent, only their hash. */
export const toolCallPayload = strictObject({
  /** Name of the tool called. */
  toolName: identifier,
  /** Hash of the call arguments, such as `sha256:…`. */
  argumentsHash: identifier,
  /** Status code of the tool's response, as in HTTP; 400 and above counts as an error. */
  responseStatus: z.int32(),
}).meta({ id: 'ToolCallPayload' });

/** Payload of category `subagent_call`, which a recorder sends for a `tool_api` event of an agent inside another. */
export const subagentCallPayload = strictObject({
  /** UUID of the `tool_api` event that it is about. */
  eventId: z.uuid(),
  /** Name of the tool called. */
  toolName: identifier,
  /** Name of the agent's subagent that made the call; none if omitted. */
  subagent: line(200).optional(),
  /** Agents that the agent ran inside, nearest first; none if omitted. */
  parentAgentIds: z.array(resourceId).max(limits.maxParentAgents).optional(),
});

/** Payload of any other category, stored unchanged. */
export const openPayload = z.record(z.string(), z.unknown());

/** An event as it is sent (specification, "Event"); the profile requires all seven fields. */
export const event = strictObject({
  /** UUID of the event, in upper or lower case, returned in lower case. Sending the same event again is safe. */
  eventId: z.uuid(),
  /** The agent that acted; it need not be registered. */
  agentId: resourceId,
  /** Session of the event: an identifier chosen by the caller. The first event creates the session. */
  sessionId: resourceId,
  /** Time of the event: ISO 8601 in UTC with a trailing `Z`, at most 40 characters. */
  sourceTimestamp: timestamp,
  /** Kind of event, at most 100 characters; `tool_api` for tool calls, `argument_origins` for the origins of their arguments, `subagent_call` for the calls of a subagent, `session_seal` for the ids of a session's events. `guardian_decision`, in any spelling, is reserved for the service. */
  category: line(100),
  /** Version of the event schema; `1.0`. */
  schemaVersion: line(20),
  /** Data of the event: exactly the fields of a tool call for `tool_api`; `eventId`, `toolName` and `origins` for `argument_origins`; `eventId`, `toolName`, `subagent` and `parentAgentIds` for `subagent_call`; `sealer`, `count`, `eventIds`, `chain` and `isLast` for `session_seal`; any object, stored unchanged, for other categories. */
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

/** A warning in an acknowledgement: the event was stored but needs attention. */
export const eventWarning = looseObject({
  /** Machine-readable code, such as `AGENT_NOT_REGISTERED`; more codes may be added. */
  code: z.string(),
  /** Human-readable message that names the problem and the fix. */
  message: z.string(),
}).meta({ id: 'EventWarning' });

/** Response of `POST /v1/events` (specification, "Event acknowledgement"). */
export const eventAck = resource(
  'EventAck',
  {
    /** UUID of the accepted event. */
    eventId: z.string(),
    /** Time at which the service first received the event: ISO 8601 with milliseconds, UTC. */
    receivedAt: timestamp,
    /** Warnings about the stored event; empty if there are none. */
    warnings: z.array(eventWarning),
  },
  {},
);

const stored = {
  /** UUID given by the sender. */
  eventId: z.string(),
  /** The agent that acted. */
  agentId: z.string(),
  /** The session of the event. */
  sessionId: z.string(),
  /** Time of the event by the sender's clock. */
  sourceTimestamp: timestamp,
  /** Kind of event: `tool_api` for tool calls, `argument_origins` and `subagent_call` for facts about them, `guardian_decision` for events that the service writes. */
  category: z.string(),
  /** Version of the event schema. */
  schemaVersion: z.string(),
  /** Data of the event; its fields depend on the category. */
  payload: openPayload,
  /** Time at which the service received the event, by the service's clock. */
  receivedAt: timestamp,
  /** Verified identity of the sender; missing if it sent no token. */
  identity: callerIdentity.optional(),
  /** W3C `traceparent` of the call; missing if its sender named none. */
  traceparent: z.string().optional(),
} as const;

/** The fields of {@link storedEvent}. */
export type StoredEventShape = { readonly [Field in keyof typeof stored]: (typeof stored)[Field] };

/** An event as the service returns it. */
export const storedEvent = resource<Record<never, never>, StoredEventShape>('StoredEvent', {}, stored);

/** Payload of a `tool_api` event. */
export type ToolCallPayload = z.output<typeof toolCallPayload>;
/** Payload of a `subagent_call` event. */
export type SubagentCallPayload = z.output<typeof subagentCallPayload>;
/** An event with all seven fields, as it is sent. */
export type ActivityEvent = z.output<typeof event>;
/** A warning in an event acknowledgement. */
export type EventWarning = z.output<typeof eventWarning>;
/** Acknowledgement of an event. */
export interface EventAck extends Accepted<typeof eventAck> {}
/** An event as the service returns it. */
export interface StoredEvent extends Accepted<typeof storedEvent> {}
