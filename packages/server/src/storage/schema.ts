import type { Generated, GeneratedAlways } from 'kysely';
import type {
  CheckedActionTable,
  PendingActionTable,
  PolicyCountTable,
  PolicyTable,
} from './policy-schema.ts';

/**
 * The tables, as Kysely sees them. Every unique key starts with the tenant, so that the same tables can be
 * distributed by tenant. Times are whole milliseconds since the epoch, JSON is text, flags are 0 or 1: the types
 * that SQLite and PostgreSQL share.
 */
export interface Tables {
  schema_migrations: { name: string; applied_ms: number };
  tenants: TenantTable;
  api_keys: ApiKeyTable;
  rate_limits: { tenant_id: number; subject: string; theoretical_arrival_ms: number };
  idempotency_keys: IdempotencyKeyTable;
  agents: AgentTable;
  sessions: SessionTable;
  session_risk: SessionRiskTable;
  agent_baselines: { tenant_id: number; agent_id: string; baseline: string };
  tenant_risk: { tenant_id: number; state: string };
  usage: UsageTable;
  tool_tag_sets: { tenant_id: number; version: number; tags: string; created_ms: number };
  session_agents: SessionAgentTable;
  events: EventTable;
  /** PostgreSQL only: see its migration. */
  event_ids: Pick<EventTable, 'tenant_id' | 'event_id' | 'session_id' | 'arrival' | 'received_ms'>;
  /** PostgreSQL only: what the deployment's processes have in common. */
  deployment: { name: string; value: string };
  policies: PolicyTable;
  policy_counts: PolicyCountTable;
  checked_actions: CheckedActionTable;
  pending_actions: PendingActionTable;
  notification_channels: NotificationChannelTable;
  deliveries: DeliveryTable;
}

/** One tenant: the unit of isolation, limits and retention. */
export interface TenantTable {
  id: Generated<number>;
  name: string;
  created_ms: number;
  /** Grows with every change of a policy or channel, so that a process sees that its copy is old. */
  settings_version: number;
  /** Days that a session is kept after its last event; null keeps it for ever. */
  retention_days: number | null;
  /** The most that it may have, as JSON by the name of the quota; null for no bound. */
  quotas: Generated<string | null>;
  /** Since when it exists for nobody; null for a tenant that exists. */
  deleted_ms: Generated<number | null>;
  /** Since when nothing of a deleted tenant is left but this row. */
  emptied_ms: Generated<number | null>;
}

/** A part of what is counted of a tenant; the count is the sum over all slots. */
export interface UsageTable {
  tenant_id: number;
  kind: 'events' | 'sessions';
  /** When the month begins that events are counted in; 0 for what there is. */
  period_ms: number;
  slot: number;
  amount: number;
}

/** One API key. The secret itself is never stored. */
export interface ApiKeyTable {
  tenant_id: number;
  id: string;
  /** SHA-256 of the whole key, in hex. */
  digest: string;
  kind: 'live' | 'test';
  name: string;
  /** Scopes as a JSON array. */
  scopes: string;
  created_ms: number;
  /** From this moment the key is refused; null for never. */
  expires_ms: number | null;
  last_used_ms: number | null;
}

/** The first answer to a request that carried an `Idempotency-Key`. */
export interface IdempotencyKeyTable {
  tenant_id: number;
  endpoint: string;
  key: string;
  /** SHA-256 over path and body, in hex. */
  request_digest: string;
  status: number;
  /** The answer, encrypted: it may hold a secret that is shown once. */
  response: string;
  created_ms: number;
}

/** One agent, registered or only seen. */
export interface AgentTable {
  tenant_id: number;
  id: string;
  name: string | null;
  description: string | null;
  framework: string | null;
  version: string | null;
  owner: string | null;
  metadata: string;
  status: 'active' | 'revoked';
  registered: 0 | 1;
  created_ms: number;
  updated_ms: number;
  last_seen_ms: number | null;
}

/** Summary of a session, kept by the write. */
export interface SessionTable {
  tenant_id: number;
  id: string;
  /** The agent of the first event that arrived. */
  agent_id: string;
  /** Every agent that acted, as a JSON array in order of arrival. */
  agent_ids: string;
  /** Earliest and latest source time of its events. */
  started_ms: number;
  last_event_ms: number;
  event_count: number;
  error_count: number;
  /** The arrival number of the newest event: numbers only grow, and may have gaps. */
  last_arrival: number;
  tool_names: string;
  risk_score: number | null;
  risk_level: 'low' | 'medium' | 'high' | 'critical' | null;
  /** The whole part of the score. */
  risk_band: GeneratedAlways<number | null>;
  /** The arrival number up to which events are in the risk; behind `last_arrival` while it is worked on. */
  risk_arrival: number;
  /** Whether the baseline of its agent has learned from it. */
  risk_learned: 0 | 1;
  /** When its newest event was received, which retention goes by. */
  received_ms: number;
}

/** An agent that acted in a session, with what its list of sessions goes by. */
export interface SessionAgentTable {
  tenant_id: number;
  agent_id: string;
  session_id: string;
  started_ms: number;
  risk_score: number | null;
  /** The whole part of the score. */
  risk_band: GeneratedAlways<number | null>;
}

/** What the risk engine keeps of a session. */
export interface SessionRiskTable {
  tenant_id: number;
  session_id: string;
  state: string;
  /** What its agent usually did, as it was when the session began; null when nothing was known. */
  baseline: string | null;
  /** Which of its tenant's corrected tags were the newest when the session began; null when there were none. */
  tags_version: number | null;
}

/** One event, as it came; see `event-row.ts`. */
export interface EventTable {
  tenant_id: number;
  session_id: string;
  /** The source time that events are ordered by. */
  source_ms: number;
  event_id: string;
  /** Its number in the order of arrival in its session, which bounds a snapshot. */
  arrival: number;
  agent_id: string;
  source_timestamp: string;
  category: string;
  schema_version: string;
  payload: string;
  received_ms: number;
  /** What the risk engine saw beyond the session when the event arrived. */
  stamp: number;
}

/** A webhook. */
export interface NotificationChannelTable {
  tenant_id: number;
  id: string;
  url: string;
  /** Kinds of event, as a JSON array. */
  events: string;
  /** The signing secret, encrypted. */
  secret: string;
  /** The one before it, encrypted, where it was rotated. */
  previous_secret: string | null;
  /** Until then messages are signed with that one, too. */
  previous_until_ms: number | null;
  status: 'active' | 'disabled';
  created_ms: number;
  last_delivery_ms: number | null;
  /** Failed tries since the last success. */
  failure_count: number;
  /** When the present run of failures began. */
  failing_since_ms: number | null;
}

/** One message to one webhook: the outbox and, once it is done, the delivery log. */
export interface DeliveryTable {
  tenant_id: number;
  id: string;
  channel_id: string;
  /** The message's id, the same in all tries and all channels. */
  message_id: string;
  event_type: string;
  body: string;
  status: 'waiting' | 'delivered' | 'failed';
  /** Tries that have ended; a try that a crash cut off does not count. */
  attempts: number;
  next_attempt_ms: number;
  /** Until then the try belongs to one process. */
  leased_until_ms: number;
  created_ms: number;
  finished_ms: number | null;
  /** HTTP status of the last try; null when none came back. */
  last_status: number | null;
  last_error: string | null;
}
