/**
 * One stored event, as the engine reads it; {@link riskEvent} makes it from an event of the wire. `payload` carries
 * what other categories than `tool_api` hold.
 */
export interface RiskEvent {
  /** UUID of the event. */
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** `sourceTimestamp` in milliseconds since 1970. */
  readonly timestampMs: number;
  /** `tool_api`, `agent_message`, `memory_write`, `llm_call`, `guardian_decision`, or any other. */
  readonly category: string;
  readonly schemaVersion: string;
  /** Of `tool_api`, and of a decision on a tool. */
  readonly toolName?: string;
  readonly argumentsHash?: string;
  /** Status of the tool's answer; null or absent where none came. */
  readonly responseStatus?: number | null;
  /** The event's payload as it was sent; absent from tool calls. Strings are read, anything else is ignored. */
  readonly payload?: Readonly<Record<string, unknown>>;
}

/** An event as it stands on the wire (interface specification, "Event"). */
export interface WireEvent
  extends Omit<RiskEvent, 'timestampMs' | 'toolName' | 'argumentsHash' | 'responseStatus'> {
  /** ISO 8601. */
  readonly sourceTimestamp: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** An event of the wire as the engine reads it. */
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

/** What the server adds to an event when it observes it. The same event must always get the same context. */
export interface EventContext {
  /** What `stampEvent` returned for this event when it arrived, as stored with it. Default: 0. */
  readonly stamp?: number;
  /** The tenant's own tags by tool name, as they held when the session started. Default: none. */
  readonly tags?: ReadonlyMap<string, number>;
}
