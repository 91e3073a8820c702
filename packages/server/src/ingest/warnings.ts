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

function warning(code: WarningCode, message: string): EventWarning {
  return { code, message };
}

/** The same id came again with other content. */
export const eventIdReused: EventWarning = warning(
  'EVENT_ID_REUSED',
  'An event with this eventId and other content is already stored; it was not changed. Give every event its own UUID.',
);

/** The warnings of one event (reference profile, "Events"). */
export function eventWarnings(
  { event, receivedMs, protoKeysRemoved }: NewEvent,
  around: EventSurroundings,
): EventWarning[] {
  const warnings: EventWarning[] = [];
  const sourceMs = Date.parse(event.sourceTimestamp);
  if (!around.agentRegistered) {
    warnings.push(
      warning('AGENT_NOT_REGISTERED', 'The agent is not registered; register it with POST /v1/agents.'),
    );
  }
  if (around.agentRevoked) {
    warnings.push(warning('AGENT_REVOKED', 'The agent is revoked, and still acts.'));
  }
  if (sourceMs > receivedMs + futureToleranceMs) {
    warnings.push(
      warning('TIMESTAMP_IN_FUTURE', 'sourceTimestamp lies in the future; set the clock of the sender.'),
    );
  }
  if (sourceMs < receivedMs - oldAfterMs) {
    warnings.push(warning('TIMESTAMP_TOO_OLD', 'sourceTimestamp is more than seven days old.'));
  }
  if (!categories.has(event.category)) {
    warnings.push(
      warning('UNKNOWN_CATEGORY', 'The category is kept, but the risk engine gives no meaning to it.'),
    );
  }
  if (event.schemaVersion !== schemaVersion) {
    warnings.push(
      warning(
        'UNKNOWN_SCHEMA_VERSION',
        `The service knows schemaVersion ${schemaVersion}; this one is kept as it is.`,
      ),
    );
  }
  if (around.sessionAgentId !== event.agentId) {
    warnings.push(warning('SESSION_AGENT_MISMATCH', 'The session was opened by another agent.'));
  }
  if (protoKeysRemoved) {
    warnings.push(
      warning('PROTO_KEYS_REMOVED', 'Keys named __proto__ were taken out of the event before it was stored.'),
    );
  }
  return warnings;
}
