import type { RiskLevel } from '@actlog/protocol';

/** A webhook. */
export interface NotificationChannelTable {
  tenant_id: number;
  id: string;
  url: string;
  /** Event types, as a JSON array. */
  events: string;
  /** Signing secret, encrypted. */
  secret: string;
  /** Signing secret before the last rotation, encrypted; `null` for none. */
  previous_secret: string | null;
  /** Time until which messages are also signed with the previous secret. */
  previous_until_ms: number | null;
  status: 'active' | 'disabled';
  /** Lowest level that it receives `session.risk_raised` for. */
  risk_level: RiskLevel;
  created_ms: number;
  last_delivery_ms: number | null;
  /** Failed attempts since the last success. */
  failure_count: number;
  /** Start of the current run of failures. */
  failing_since_ms: number | null;
}

/** One message to one webhook: the outbox entry and, once it is finished, the delivery log entry. */
export interface DeliveryTable {
  tenant_id: number;
  id: string;
  channel_id: string;
  /** Id of the message, the same in all attempts and for all webhooks. */
  message_id: string;
  event_type: string;
  body: string;
  status: 'waiting' | 'delivered' | 'failed';
  /** Number of completed attempts. An attempt that a crash interrupted does not count. */
  attempts: number;
  next_attempt_ms: number;
  /** Time until which the delivery is leased to one process. */
  leased_until_ms: number;
  created_ms: number;
  finished_ms: number | null;
  /** HTTP status of the last attempt; `null` if there was no response. */
  last_status: number | null;
  last_error: string | null;
  /** Duration of the last attempt, in milliseconds; `null` before the first. */
  last_duration_ms: number | null;
}
