import type { Generated, GeneratedAlways } from 'kysely';
import type {
  ApprovalGrantTable,
  CallHistoryTable,
  CheckedActionTable,
  PendingActionTable,
  PolicyCountTable,
  PolicyDecisionTable,
  PolicyTable,
  PolicyVersionTable,
  SessionCallTable,
} from './policies/policy-schema.ts';
import type { UsageKind } from './stores/quota-table.ts';
import type {
  ActivityTable,
  AlertRuleTable,
  AlertTable,
  AuditTable,
  DeliveryTable,
  DroppedSessionTable,
  ForwardedRiskTable,
  ForwardPositionTable,
  HandledSessionTable,
  LegalHoldTable,
  LogCosignedTable,
  LogDeletionTable,
  LogHeadTable,
  LogPendingTable,
  LogRangeTable,
  LogTileTable,
  NotificationChannelTable,
  PersonTable,
  PushSubscriptionTable,
  RetentionPositionTable,
  RiskJudgmentTable,
  SessionNoteTable,
  SignInTable,
} from './tables.ts';

/**
 * The tables, for Kysely. Every unique key starts with the tenant, so the tables can be distributed by tenant. Times
 * are whole Unix milliseconds, JSON is text, flags are 0 or 1: the types that SQLite and PostgreSQL share.
 */
export interface Tables {
  schema_migrations: { name: string; applied_ms: number };
  tenants: TenantTable;
  api_keys: ApiKeyTable;
  key_agents: KeyAgentTable;
  sign_ins: SignInTable;
  rate_limits: { tenant_id: number; subject: string; theoretical_arrival_ms: number };
  idempotency_keys: IdempotencyKeyTable;
  agents: AgentTable;
  sessions: SessionTable;
  session_risk: SessionRiskTable;
  agent_baselines: { tenant_id: number; agent_id: string; baseline: string };
  tenant_risk: { tenant_id: number; state: string };
  usage: UsageTable;
  activity: ActivityTable;
  audit_log: AuditTable;
  risk_judgments: RiskJudgmentTable;
  handled_sessions: HandledSessionTable;
  session_notes: SessionNoteTable;
  tool_tag_sets: { tenant_id: number; version: number; tags: string; created_ms: number };
  session_agents: SessionAgentTable;
  session_tools: SessionToolTable;
  events: EventTable;
  /** PostgreSQL only, where `events` is a view of it; see its migration. */
  event_rows: EventRowTable;
  /** Values that all processes of the deployment share. */
  deployment: { name: string; value: string };
  policies: PolicyTable;
  policy_counts: PolicyCountTable;
  checked_actions: CheckedActionTable;
  policy_decisions: PolicyDecisionTable;
  call_histories: CallHistoryTable;
  session_calls: SessionCallTable;
  agent_tools: { tenant_id: number; agent_id: string; tools: string };
  pending_actions: PendingActionTable;
  approval_grants: ApprovalGrantTable;
  notification_channels: NotificationChannelTable;
  deliveries: DeliveryTable;
  people: PersonTable;
  push_subscriptions: PushSubscriptionTable;
  alert_rules: AlertRuleTable;
  alerts: AlertTable;
  log_heads: LogHeadTable;
  log_tiles: LogTileTable;
  log_ranges: LogRangeTable;
  log_pending: LogPendingTable;
  log_deletions: LogDeletionTable;
  log_cosigned: LogCosignedTable;
  log_times: { tenant_id: number; minute: number; first_index: number };
  legal_holds: LegalHoldTable;
  dropped_sessions: DroppedSessionTable;
  retention_positions: RetentionPositionTable;
  policy_versions: PolicyVersionTable;
  forward_positions: ForwardPositionTable;
  forwarded_risk: ForwardedRiskTable;
}

/** A tenant: the unit of isolation, limits and retention. */
export interface TenantTable {
  id: Generated<number>;
  name: string;
  created_ms: number;
  /** Raised by every change of a policy or webhook, so that a process can detect an outdated copy. */
  settings_version: number;
  /** The tenant's own retention, as JSON by class of records; `null` for none. */
  retention: Generated<string | null>;
  /** The retention in force as the log has it last, as JSON; `null` before the first entry. */
  logged_retention: Generated<string | null>;
  /** The tenant's own quotas, as JSON by the name of the quota; `null` for none. */
  quotas: Generated<string | null>;
  /** Time of deletion; `null` for a tenant that exists. */
  deleted_ms: Generated<number | null>;
  /** Time from which only this row of a deleted tenant is left. */
  emptied_ms: Generated<number | null>;
}

/** Part of a tenant's usage of one kind. The usage is the sum over all slots. */
export interface UsageTable {
  tenant_id: number;
  kind: UsageKind;
  /** Start of the month in which events and checks are counted; 0 for kinds that are not monthly. */
  period_ms: number;
  slot: number;
  amount: number;
}

/** An API key. The secret itself is never stored. */
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
  /** Time from which the key is refused; `null` for never. */
  expires_ms: number | null;
  last_used_ms: number | null;
  /** Person or key that created it in the console; `null` for one that an operator created. */
  created_by: Generated<string | null>;
  /** Patterns of the agents that it may act as, as a JSON array; `null` for any agent. */
  agents: Generated<string | null>;
  /** 1 if several agents share the key, so that revoking one of them does not stop the others. */
  shared: Generated<0 | 1>;
  /** 1 when requests with the key need a token that verifies their agent. */
  requires_identity: Generated<0 | 1>;
}

/** An agent that a key has acted as. The empty agent stands for more than are kept. */
export interface KeyAgentTable {
  tenant_id: number;
  key_id: string;
  agent_id: string;
}

/** The first response to a request with an `Idempotency-Key`. */
export interface IdempotencyKeyTable {
  tenant_id: number;
  endpoint: string;
  key: string;
  /** SHA-256 over path and body, in hex. */
  request_digest: string;
  status: number;
  /** The response body, encrypted, because it may contain a secret that is shown only once. */
  response: string;
  created_ms: number;
}

/** An agent, registered or seen in events. */
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

/** Summary of a session, updated by each write of its events. */
export interface SessionTable {
  tenant_id: number;
  id: string;
  /** Agent of the first event that arrived. */
  agent_id: string;
  /** All agents that acted in the session, as a JSON array in order of arrival. */
  agent_ids: string;
  /** Earliest and latest source time of the session's events. */
  started_ms: number;
  last_event_ms: number;
  event_count: number;
  error_count: number;
  /** Arrival number of the newest event. Numbers only grow, and may have gaps. */
  last_arrival: number;
  tool_names: string;
  risk_score: number | null;
  risk_level: 'low' | 'medium' | 'high' | 'critical' | null;
  /** Integer part of the score. */
  risk_band: GeneratedAlways<number | null>;
  /** The score, and -1 for a session without one: the order of lists by risk. */
  risk_rank: GeneratedAlways<number>;
  /** Arrival number up to which events are scored; less than `last_arrival` until scoring has caught up. */
  risk_arrival: number;
  /** Arrival number up to which events are in the log. */
  log_arrival: Generated<number>;
  /** 1 if the agent's baseline has learned from the session. */
  risk_learned: 0 | 1;
  /** Time at which the newest event was received; retention is based on it. */
  received_ms: number;
  /** Minute in which the newest event was received, for the index. */
  received_minute: GeneratedAlways<number>;
  /** 1 if events are not scored, or not in the log. */
  is_unscored: GeneratedAlways<0 | 1>;
  is_unlogged: GeneratedAlways<0 | 1>;
  /** 1 if a tool call failed. */
  has_errors: Generated<0 | 1>;
  /** 1 if a policy or an approver denied an action. */
  has_denials: Generated<0 | 1>;
  /** 1 if an action was held. */
  has_holds: Generated<0 | 1>;
  /** Person that the session is assigned to, as lists compare names; `null` for nobody. */
  assignee_key: Generated<string | null>;
}

/** An agent that acted in a session, with the columns that the agent's list of sessions is filtered and sorted by. */
export interface SessionAgentTable {
  tenant_id: number;
  agent_id: string;
  session_id: string;
  started_ms: number;
  risk_score: number | null;
  /** Integer part of the score. */
  risk_band: GeneratedAlways<number | null>;
  /** The score, and -1 without one. */
  risk_rank: GeneratedAlways<number>;
}

/** A tool that was called in a session, with the column that lists by tool are sorted by. */
export interface SessionToolTable {
  tenant_id: number;
  session_id: string;
  tool_name: string;
  started_ms: number;
}

/** State of the risk engine for a session. */
export interface SessionRiskTable {
  tenant_id: number;
  session_id: string;
  state: string;
  /** Baseline of the session's agent at the start of the session; `null` for none. */
  baseline: string | null;
  /** Version of the tenant's corrected tags at the start of the session; `null` for none. */
  tags_version: number | null;
}

/** An event; see `event-row.ts`. */
export interface EventTable {
  tenant_id: number;
  session_id: string;
  /** Source time by which events are sorted. */
  source_ms: number;
  event_id: string;
  /** Number of the event in the order of arrival in its session. Bounds a snapshot. */
  arrival: number;
  agent_id: string;
  source_timestamp: string;
  category: string;
  schema_version: string;
  payload: string;
  received_ms: number;
  /** Tenant-wide context of the event for the risk engine, taken when it arrived. */
  stamp: number;
  /** Verified identity of the sender, as JSON; `null` for none. */
  identity: string | null;
  /** Reason why the event stands out, of `eventMarks`; 0 for none. */
  mark: Generated<number>;
  /** Position in the order of the search: the source time, then bits of the id, so that few events share one. */
  place: number;
  /**
   * Key of the agent's id for the indexes of the search; see `searchKey`. `null` for an event that has no entry by agent, tool
   * or hash in them.
   */
  agent_key: number | null;
  /** Key of the tool's name, and of the hash of the arguments; `null` for events that are not tool calls. */
  tool_key: number | null;
  hash_key: number | null;
  /** W3C `traceparent` of the call; `null` for none. */
  traceparent: string | null;
}

/** An event as PostgreSQL stores it, without what an ordinary tool call repeats. */
export interface EventRowTable extends Omit<EventTable, 'source_timestamp' | 'payload'> {
  /** The event's `sourceTimestamp`; `null` for `source_ms` in ISO 8601 with milliseconds. */
  source_timestamp: string | null;
  /** Parts of the payload of an ordinary tool call; `null` for other events. */
  tool_name: string | null;
  /** The 32 bytes of the hash, as PostgreSQL's text for bytes. */
  arguments_hash: string | null;
  response_status: number | null;
  /** The payload of any other event. */
  payload_json: string | null;
}
