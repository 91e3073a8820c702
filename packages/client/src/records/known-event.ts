import type {
  ArgumentOriginsPayload,
  StoredEvent,
  SubagentCallPayload,
  ToolCallPayload,
} from '@actlog/protocol';

/** A tool call (specification, "Event"). */
export interface ToolCallEvent extends StoredEvent {
  readonly category: 'tool_api';
  readonly payload: ToolCallPayload;
}

/** A message to another agent (reference profile, "Events"). */
export interface AgentMessageEvent extends StoredEvent {
  readonly category: 'agent_message';
  readonly payload: { readonly toAgentId: string; readonly contentHash: string };
}

/** A write to an agent's memory (reference profile, "Events"). */
export interface MemoryWriteEvent extends StoredEvent {
  readonly category: 'memory_write';
  readonly payload: { readonly key: string; readonly contentHash: string };
}

/** A call of a model (reference profile, "Events"). */
export interface LlmCallEvent extends StoredEvent {
  readonly category: 'llm_call';
  readonly payload: { readonly model: string; readonly promptHash: string; readonly responseStatus: number };
}

/** Origins of the arguments of a tool call (reference profile, "Events"). */
export interface ArgumentOriginsEvent extends StoredEvent {
  readonly category: 'argument_origins';
  readonly payload: ArgumentOriginsPayload;
}

/** Subagent of a tool call, or the agents that its agent runs inside (reference profile, "Events"). */
export interface SubagentCallEvent extends StoredEvent {
  readonly category: 'subagent_call';
  readonly payload: SubagentCallPayload;
}

/** A decision about an action, written by the service itself (reference profile, "Events"). */
export interface GuardianDecisionEvent extends StoredEvent {
  readonly category: 'guardian_decision';
  readonly payload: {
    readonly toolName: string;
    readonly argumentsHash: string;
    readonly decision: 'deny' | 'require_approval' | 'approved' | 'denied' | 'expired' | 'withdrawn';
    readonly policyId: string;
    /** Name of the policy at the time of the decision. */
    readonly policyName?: string;
  };
}

/** An event of a known category, discriminated by `category`. */
export type KnownEvent =
  | ToolCallEvent
  | AgentMessageEvent
  | MemoryWriteEvent
  | LlmCallEvent
  | ArgumentOriginsEvent
  | SubagentCallEvent
  | GuardianDecisionEvent;

/** Types of the payload fields of each category. */
const payloadTypes: Readonly<Record<KnownEvent['category'], Readonly<Record<string, string>>>> = {
  tool_api: { toolName: 'string', argumentsHash: 'string', responseStatus: 'number' },
  agent_message: { toAgentId: 'string', contentHash: 'string' },
  memory_write: { key: 'string', contentHash: 'string' },
  llm_call: { model: 'string', promptHash: 'string', responseStatus: 'number' },
  argument_origins: { eventId: 'string', toolName: 'string', origins: 'object' },
  subagent_call: { eventId: 'string', toolName: 'string' },
  guardian_decision: { toolName: 'string', argumentsHash: 'string', decision: 'string', policyId: 'string' },
};

/**
 * `true` if a value is an event of a known category and its payload has the fields of that category. Check `category`
 * afterwards to get the type of the payload.
 *
 * @example
 * ```ts
 * for await (const event of client.sessions.events('invoice-1042')) {
 *   if (!isKnownEvent(event)) continue;
 *   if (event.category === 'llm_call') console.log(event.payload.model);
 *   if (event.category === 'tool_api') console.log(event.payload.toolName);
 * }
 * ```
 */
export function isKnownEvent(value: unknown): value is KnownEvent {
  const { category, payload } = (value ?? {}) as Partial<StoredEvent>;
  if (!category || !payload || !Object.hasOwn(payloadTypes, category)) return false;
  const fields = Object.entries(payloadTypes[category as KnownEvent['category']]);
  return fields.every(([field, type]) => payload[field] !== null && typeof payload[field] === type);
}

/**
 * `true` if a value is the event of a tool call with the payload of the specification.
 *
 * @example
 * ```ts
 * const events = await client.sessions.events('invoice-1042').toArray();
 * const failed = events.filter(isToolCall).filter(({ payload }) => payload.responseStatus >= 400);
 * console.log(failed.map(({ payload }) => payload.toolName));
 * ```
 */
export function isToolCall(value: unknown): value is ToolCallEvent {
  return isKnownEvent(value) && value.category === 'tool_api';
}
