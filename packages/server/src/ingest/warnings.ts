import { type EventWarning, schemaVersion, toolCallCategory, type WarningCode } from '@actlog/protocol';
import type { NewEvent } from './new-event.ts';

/** Milliseconds that the clock of a sender may run ahead. */
const futureToleranceMs = 5 * 60_000;

/** Milliseconds after which an event is called old: a spool is rarely older than a week. */
const oldAfterMs = 7 * 24 * 3_600_000;

const categories = new Set([
  toolCallCategory,
  'agent_message',
  'memory_write',
  'llm_call',
  'guardian_decision',
]);

/** What the database knows about an event's surroundings. */
export interface EventSurroundings {
  readonly agentRegistered: boolean;
  readonly agentRevoked: boolean;
  /** The agent that opened the session. */
  readonly sessionAgentId: string;
}

const messages: Readonly<Record<WarningCode, string>> = {
  AGENT_NOT_REGISTERED: 'The agent is not registered; register it with POST /v1/agents.',
  AGENT_REVOKED: 'The agent is revoked, and still acts.',
  TIMESTAMP_IN_FUTURE: 'sourceTimestamp lies in the future; set the clock of the sender.',
  TIMESTAMP_TOO_OLD: 'sourceTimestamp is more than seven days old.',
  UNKNOWN_CATEGORY: 'The category is kept, but the risk engine gives no meaning to it.',
  UNKNOWN_SCHEMA_VERSION: `The service knows schemaVersion ${schemaVersion}; this one is kept as it is.`,
  EVENT_ID_REUSED:
    'An event with this eventId and other content is already stored; it was not changed. Give every event its own UUID.',
  SESSION_AGENT_MISMATCH: 'The session was opened by another agent.',
  PROTO_KEYS_REMOVED: 'Keys named __proto__ were taken out of the event before it was stored.',
};

/** A warning as the wire shows it. */
export function eventWarning(code: WarningCode): EventWarning {
  return { code, message: messages[code] };
}

/** What there is to warn of in one event (reference profile, "Events"). */
export function warningsOf(
  { event, sourceMs, receivedMs, protoKeysRemoved }: NewEvent,
  around: EventSurroundings,
): WarningCode[] {
  const warnings: WarningCode[] = [];
  if (!around.agentRegistered) warnings.push('AGENT_NOT_REGISTERED');
  if (around.agentRevoked) warnings.push('AGENT_REVOKED');
  if (sourceMs > receivedMs + futureToleranceMs) warnings.push('TIMESTAMP_IN_FUTURE');
  if (sourceMs < receivedMs - oldAfterMs) warnings.push('TIMESTAMP_TOO_OLD');
  if (!categories.has(event.category)) warnings.push('UNKNOWN_CATEGORY');
  if (event.schemaVersion !== schemaVersion) warnings.push('UNKNOWN_SCHEMA_VERSION');
  if (around.sessionAgentId !== event.agentId) warnings.push('SESSION_AGENT_MISMATCH');
  if (protoKeysRemoved) warnings.push('PROTO_KEYS_REMOVED');
  return warnings;
}
