/**
 * A stored event as the engine reads it; {@link riskEvent} creates it from a wire event. `payload` contains the data of
 * categories other than `tool_api`.
 */
export interface RiskEvent {
  /** UUID of the event. */
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** `sourceTimestamp` in Unix milliseconds. */
  readonly timestampMs: number;
  /** `tool_api`, `agent_message`, `memory_write`, `llm_call`, `guardian_decision`, or any other. */
  readonly category: string;
  readonly schemaVersion: string;
  /** Tool of a `tool_api` event or of a decision about a tool. */
  readonly toolName?: string;
  readonly argumentsHash?: string;
  /** Status of the tool's response; null or absent if there was none. */
  readonly responseStatus?: number | null;
  /** Payload of the event as sent; absent for tool calls. Only its strings are read. */
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** An event on the wire (interface specification, "Event"). */
export interface WireEvent
  extends Omit<RiskEvent, 'timestampMs' | 'toolName' | 'argumentsHash' | 'responseStatus'> {
  /** ISO 8601. */
  readonly sourceTimestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** Converts a wire event for the engine. */
export function riskEvent(event: WireEvent): RiskEvent {
  const { payload } = event;
  return {
    eventId: event.eventId,
    agentId: event.agentId,
    sessionId: event.sessionId,
    timestampMs: Date.parse(event.sourceTimestamp),
    category: event.category,
    schemaVersion: event.schemaVersion,
    ...(event.category !== 'tool_api' && { payload }),
    ...(typeof payload.toolName === 'string' && { toolName: payload.toolName }),
    ...(typeof payload.argumentsHash === 'string' && { argumentsHash: payload.argumentsHash }),
    ...(typeof payload.responseStatus === 'number' && { responseStatus: payload.responseStatus }),
  };
}

/**
 * Data that the server adds to an event when it observes it. The same event must always get the same context.
 */
export interface EventContext {
  /** Stamp that `stampEvent` returned when the event arrived, as stored with it. Default: 0. */
  readonly stamp?: number;
  /** The tenant's custom tags by tool name, as of the start of the session. Default: none. */
  readonly tags?: ReadonlyMap<string, number>;
}

/**
 * Findings about an event that need data from outside its session. They are determined once when the event arrives and
 * are stored with it. Bit `i` of a stamp stands for `stampNames[i]`. The order is part of the stored format:
 * append only.
 */
export const stampNames = [
  'agent_revoked',
  'agent_unregistered',
  'tool_new_to_tenant',
  'tool_lookalike',
  'tool_confusable',
  'tool_shadowed',
  'agent_elsewhere',
  'failure_spread',
  'same_intent',
  'message_replayed',
  'recipient_unknown',
  'clock_ahead',
  'tenant_known',
] as const;

/** One of {@link stampNames}. */
export type StampName = (typeof stampNames)[number];

/** Index of each stamp. */
export const stampIndex = Object.fromEntries(stampNames.map((name, index) => [name, index])) as Readonly<
  Record<StampName, number>
>;

/** Stamps that an event of the service itself can have; the others are evidence about an agent. */
const serviceStamps = stampOf('tenant_known');

/**
 * Returns the stamps of an event that count. Events that the service writes about an action, such as a
 * person's decision on a request of a revoked agent, are never evidence against the agent.
 */
export function stampsThatCount(category: string, stamp: number): number {
  return category === 'guardian_decision' ? stamp & serviceStamps : stamp;
}

/** Returns the number for a set of stamps. */
export function stampOf(...names: readonly StampName[]): number {
  return names.reduce((bits, name) => bits | (1 << stampIndex[name]), 0);
}
