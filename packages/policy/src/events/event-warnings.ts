import {
  type ActivityEvent,
  argumentOriginsCategory,
  decisionCategory,
  type EventWarning,
  schemaVersion,
  sessionSealCategory,
  subagentCallCategory,
  toolCallCategory,
  type WarningCode,
} from '@actlog/protocol';
import { invalidRequest, type Refusal } from '../requests/refusal.ts';

/** Tolerance for the clock of a sender that runs ahead, in milliseconds. */
const futureToleranceMs = 5 * 60_000;

/** Age from which an event counts as old, in milliseconds. A spool is rarely older than a week. */
const oldAfterMs = 7 * 24 * 3_600_000;

/** Categories that the reference profile defines. */
const categories = new Set([
  toolCallCategory,
  argumentOriginsCategory,
  subagentCallCategory,
  sessionSealCategory,
  'agent_message',
  'memory_write',
  'llm_call',
  decisionCategory,
]);

/** An event on its arrival. */
export interface ArrivedEvent {
  readonly event: ActivityEvent;
  /** The event's `sourceTimestamp`, in Unix milliseconds. */
  readonly sourceMs: number;
  /** Time at which the service received the event, in Unix milliseconds. */
  readonly receivedMs: number;
  /** `true` if `__proto__` keys were removed from the body. */
  readonly protoKeysRemoved: boolean;
}

/** Stored data that the warnings of an event depend on. */
export interface ArrivalContext {
  readonly agentRegistered: boolean;
  readonly agentRevoked: boolean;
  /** Agent of the session's first event. */
  readonly sessionAgentId: string;
}

const messages: Readonly<Record<WarningCode, string>> = {
  AGENT_NOT_REGISTERED: 'The agent is not registered; register it with POST /v1/agents.',
  AGENT_REVOKED: 'The agent is revoked but still acts.',
  TIMESTAMP_IN_FUTURE: 'sourceTimestamp is in the future; check the clock of the sender.',
  TIMESTAMP_TOO_OLD: 'sourceTimestamp is more than seven days old.',
  UNKNOWN_CATEGORY: 'The category is stored, but the risk engine ignores it.',
  UNKNOWN_SCHEMA_VERSION: `The service knows schemaVersion ${schemaVersion}; this event is stored unchanged.`,
  EVENT_ID_REUSED:
    'An event with this eventId and other content is already stored; it was not changed. Give every event its own UUID.',
  SESSION_AGENT_MISMATCH: 'The session was opened by another agent.',
  PROTO_KEYS_REMOVED: 'Keys named __proto__ were removed from the event before it was stored.',
};

/** Refusal of an event whose category only the service writes. */
const reservedCategory: Refusal = invalidRequest(
  'category',
  'reserved',
  `"${decisionCategory}" is written by the service itself; use another category`,
);

/** Letters of other scripts that look like a letter of the category. */
const lookalikes: Readonly<Record<string, string>> = {
  а: 'a',
  α: 'a',
  с: 'c',
  ԁ: 'd',
  е: 'e',
  ɡ: 'g',
  і: 'i',
  ι: 'i',
  ı: 'i',
  п: 'n',
  ո: 'n',
  η: 'n',
  о: 'o',
  ο: 'o',
  օ: 'o',
  г: 'r',
  ѕ: 's',
  υ: 'u',
  ս: 'u',
};

/** The letters of {@link decisionCategory}. */
const reservedLetters = 'guardiandecision';

/** Categories as frameworks and the reference profile spell them. Each letter stands for itself. */
const plain = /^[a-z0-9_]*$/;

/**
 * Returns the refusal of an event whose category reads like the category of decisions; `undefined` for any other. Ignores
 * case, whitespace, punctuation, invisible characters, accents and look-alike letters, because a sender could otherwise
 * forge a decision.
 */
export function categoryRefusal(category: string): Refusal | undefined {
  // Every event is checked, and normalizing costs more than validating its whole body.
  const letters = plain.test(category) ? category.replaceAll('_', '') : skeleton(category);
  return letters === reservedLetters ? reservedCategory : undefined;
}

function skeleton(text: string): string {
  const letters = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
  return Array.from(letters, (letter) => lookalikes[letter] ?? letter).join('');
}

/** Returns a warning as the wire shows it. */
export function warningView(code: WarningCode): EventWarning {
  return { code, message: messages[code] };
}

/** Returns the warnings of an event (reference profile, "Events"), without `EVENT_ID_REUSED`. */
export function warningsOf(
  { event, sourceMs, receivedMs, protoKeysRemoved }: ArrivedEvent,
  context: ArrivalContext,
): WarningCode[] {
  const warnings: WarningCode[] = [];
  if (!context.agentRegistered) warnings.push('AGENT_NOT_REGISTERED');
  if (context.agentRevoked) warnings.push('AGENT_REVOKED');
  if (sourceMs > receivedMs + futureToleranceMs) warnings.push('TIMESTAMP_IN_FUTURE');
  if (sourceMs < receivedMs - oldAfterMs) warnings.push('TIMESTAMP_TOO_OLD');
  if (!categories.has(event.category)) warnings.push('UNKNOWN_CATEGORY');
  if (event.schemaVersion !== schemaVersion) warnings.push('UNKNOWN_SCHEMA_VERSION');
  if (context.sessionAgentId !== event.agentId) warnings.push('SESSION_AGENT_MISMATCH');
  if (protoKeysRemoved) warnings.push('PROTO_KEYS_REMOVED');
  return warnings;
}
