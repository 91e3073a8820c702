import {
  type ActivityEvent,
  type EventWarning,
  schemaVersion,
  toolCallCategory,
  type WarningCode,
} from '@actlog/protocol';

/** Maximum lead of a sender's clock, and the age after which an event is old, in milliseconds. */
const aheadMs = 5 * 60_000;
const oldMs = 7 * 24 * 3_600_000;

/** Categories that the reference profile defines. */
const categories = [toolCallCategory, 'agent_message', 'memory_write', 'llm_call', 'guardian_decision'];

/** Data about an event beyond its fields. */
export interface Surroundings {
  readonly agent: 'active' | 'revoked' | 'unregistered';
  /** `false` for an unregistered agent, which can also be revoked. */
  readonly isRegistered: boolean;
  /** Agent that opened the session. */
  readonly sessionAgentId: string;
  readonly receivedMs: number;
  readonly protoKeysRemoved: boolean;
  /** `true` if another event with the same id was accepted before. */
  readonly isIdReused: boolean;
}

/** Returns the warnings for an event's acknowledgement (reference profile, "Events"). */
export function warningsOf(event: ActivityEvent, around: Surroundings): EventWarning[] {
  const lateMs = around.receivedMs - Date.parse(event.sourceTimestamp);
  const all: readonly (readonly [WarningCode, boolean, string])[] = [
    ['AGENT_NOT_REGISTERED', !around.isRegistered, 'The agent is not registered.'],
    ['AGENT_REVOKED', around.agent === 'revoked', 'The agent is revoked but still acts.'],
    ['TIMESTAMP_IN_FUTURE', -lateMs > aheadMs, 'sourceTimestamp lies in the future.'],
    ['TIMESTAMP_TOO_OLD', lateMs > oldMs, 'sourceTimestamp is more than seven days old.'],
    [
      'UNKNOWN_CATEGORY',
      !categories.includes(event.category),
      'The risk engine gives no meaning to the category.',
    ],
    [
      'UNKNOWN_SCHEMA_VERSION',
      event.schemaVersion !== schemaVersion,
      `schemaVersion ${schemaVersion} is known.`,
    ],
    ['SESSION_AGENT_MISMATCH', around.sessionAgentId !== event.agentId, 'Another agent opened the session.'],
    ['PROTO_KEYS_REMOVED', around.protoKeysRemoved, 'Keys named __proto__ were taken out.'],
    ['EVENT_ID_REUSED', around.isIdReused, 'Another event has this eventId; it was not changed.'],
  ];
  return all.filter(([, holds]) => holds).map(([code, , message]) => ({ code, message }));
}
