import type { RecordKind } from '@actlog/log';
import type {
  AuditAction,
  AuditActor,
  AuditTargetKind,
  ChannelKind,
  RiskJudgmentKind,
  RiskLevel,
} from '@actlog/protocol';
import type { Generated } from 'kysely';

/** Length of the buckets that a row belongs to: five minutes, an hour or a day. */
export type ActivitySpan = '5m' | 'hour' | 'day';

/** Subject of a row: the whole tenant, one of its agents or one of its tools. */
export type ActivityKind = 'all' | 'agent' | 'tool';

/** Counts of one bucket. Those of agents and tools are calls, errors and denials; the others are 0. */
export interface ActivityCounts {
  /** Events that agents sent, by their own time. */
  events: number;
  /** Tool calls among them. */
  calls: number;
  /** Tool calls with a status of 400 or more, without denials. */
  errors: number;
  /** Tool calls with the status 403, which the recorder sets for a denied call. */
  denials: number;
  /** Sessions that started in the bucket. */
  sessions: number;
  /** Those of the sessions that are scored, by their current level. */
  sessions_low: number;
  sessions_medium: number;
  sessions_high: number;
  sessions_critical: number;
  /** Actions that were held for approval. */
  held_actions: number;
  /** Kept decisions, without dry runs. */
  decisions_allow: number;
  decisions_deny: number;
  decisions_require_approval: number;
}

/** The counts, in the order of the columns. */
export const activityCounts = [
  'events',
  'calls',
  'errors',
  'denials',
  'sessions',
  'sessions_low',
  'sessions_medium',
  'sessions_high',
  'sessions_critical',
  'held_actions',
  'decisions_allow',
  'decisions_deny',
  'decisions_require_approval',
] as const satisfies readonly (keyof ActivityCounts)[];

/** The primary key of the counts. */
export const activityKey = ['tenant_id', 'span', 'kind', 'bucket_ms', 'name', 'slot'] as const;

/** Counts of one bucket of time, kept by each write so that no request has to count rows. */
export interface ActivityTable extends ActivityCounts {
  tenant_id: number;
  span: ActivitySpan;
  kind: ActivityKind;
  /** Start of the bucket (UTC), in Unix milliseconds. */
  bucket_ms: number;
  /** The agent or tool; empty for `all`, and for those beyond the limit of names in a bucket. */
  name: string;
  /** Part of the counts, which are the sum over all slots. */
  slot: number;
}

/** One change by a person, a key or the server. */
export interface AuditTable {
  tenant_id: number;
  /** Sorts by the time of the change. */
  id: string;
  at_ms: number;
  actor_kind: AuditActor['kind'];
  /** Id of the key; `null` for others. */
  actor_id: string | null;
  /** Name of the key at the time of the change; `null` for others. */
  actor_name: string | null;
  /** Person whom a trusted proxy named; `null` for none. */
  principal: string | null;
  action: AuditAction;
  target_kind: AuditTargetKind;
  target_id: string;
  /** Name at the time of the change; `null` for none. */
  target_name: string | null;
  /** Changed fields, as a JSON array. */
  changes: string;
}

/** A judgment of a person about what raises the risk of sessions. Parts of the scope that are `null` match any. */
export interface RiskJudgmentTable {
  tenant_id: number;
  id: string;
  kind: RiskJudgmentKind;
  session_id: string | null;
  agent_id: string | null;
  tool_name: string | null;
  rule_id: string | null;
  /** Actions of the one session that it is about, when it was judged; `null` for other judgments. */
  actions: number | null;
  reason: string;
  created_ms: number;
  /** Key or person that saved it. */
  created_by: string;
  created_principal: string | null;
  /** It applies to sessions whose newest event was received from this time on, … */
  from_ms: number;
  /** … and before this one: the earlier of its end dates, or `endOfTime`. */
  until_ms: number;
  expires_ms: number | null;
  ended_ms: number | null;
  ended_by: string | null;
  ended_principal: string | null;
}

/** A session that a person handled. */
export interface HandledSessionTable {
  tenant_id: number;
  session_id: string;
  /** Whole score at that time. A higher one opens the session again. */
  score: number;
  reason: string;
  handled_ms: number;
  /** Key or person that handled it. */
  handled_by: string;
  handled_principal: string | null;
}

/** A comment on a session, or its assignment to a person. */
export interface SessionNoteTable {
  tenant_id: number;
  session_id: string;
  id: string;
  kind: 'comment' | 'assigned';
  /** The comment, or the person that the session is assigned to: empty for nobody. */
  text: string;
  written_ms: number;
  /** Key or person that wrote it. */
  written_by: string;
  written_principal: string | null;
}

/** A channel: a webhook, or a way to people. */
export interface NotificationChannelTable {
  tenant_id: number;
  id: string;
  kind: Generated<'webhook' | ChannelKind>;
  /** Name for people; `null` for a webhook. */
  name: string | null;
  /** Settings of the kind that are no secrets, as JSON. */
  settings: Generated<string>;
  /** Rules for what it receives and when, as JSON. */
  rules: Generated<string>;
  /** Time until which nothing is sent to it; `null` for a channel that is not muted. */
  muted_until_ms: number | null;
  /** Address of a webhook; for other kinds the host that messages go to. */
  url: string;
  /** Event types, as a JSON array. */
  events: string;
  /** Signing secret of a webhook, or the secret settings of another kind, encrypted. */
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
  /** Held action that the message shows as it is now; `null` for a message that never changes. */
  subject: string | null;
  /** Receiver within the channel, such as a push subscription; `null` if the channel is the receiver. */
  recipient: string | null;
  /** Name of the sent message at the receiver, to change it later; `null` before that. */
  reference: string | null;
}

/** A person who has signed in. */
export interface PersonTable {
  tenant_id: number;
  /** Permanent id, `usr_…`. */
  id: string;
  name: string;
  /** Verified email address in lower case; `null` for none. */
  email: string | null;
  /** Groups at the last sign-in, as a JSON array. */
  member_of: string;
  /** Time of the last sign-in. */
  seen_ms: number;
}

/** A browser to which a person has notifications pushed. */
export interface PushSubscriptionTable {
  tenant_id: number;
  id: string;
  person_id: string;
  /** SHA-256 of the endpoint, in hex. */
  digest: string;
  /** Name of the browser, for the person. */
  label: string;
  /** Endpoint and keys as JSON, encrypted. */
  subscription: string;
  created_ms: number;
}

/** A rule of alerts. */
export interface AlertRuleTable {
  tenant_id: number;
  id: string;
  /** Its definition, as JSON. */
  definition: string;
  muted_until_ms: number | null;
  created_ms: number;
  updated_ms: number;
}

/** A cause that a rule of alerts has found, such as a tool of an agent. */
export interface AlertTable {
  tenant_id: number;
  rule_id: string;
  cause: string;
  /** Occurrences since the first one. */
  occurrences: number;
  /** Times of the newest occurrences within the window, as a JSON array. */
  times: string;
  /** Facts of the newest occurrence, as JSON. */
  example: string;
  first_ms: number;
  last_ms: number;
  /** Time at which the last message was queued; `null` for none. */
  sent_ms: number | null;
  /** Occurrences that messages have reported. */
  sent_occurrences: number;
}

/** A sign-in of a person. The secret in the cookie is never stored. */
export interface SignInTable {
  tenant_id: number;
  id: string;
  /** SHA-256 of the secret, in hex. */
  digest: string;
  user_id: string;
  /** Name of the person, such as an email address. */
  name: string;
  role: 'viewer' | 'approver' | 'admin';
  /** ID token of the provider, encrypted, to sign out there too; `null` if there is none. */
  id_token: string | null;
  /** Groups of the person, as a JSON array. */
  member_of: Generated<string>;
  created_ms: number;
  last_used_ms: number;
  /** Time at which it ends at the latest. */
  expires_ms: number;
}

/** Head of a tenant's log. */
export interface LogHeadTable {
  tenant_id: number;
  /** Number of entries. */
  size: number;
  /** Root of the tree, in Base64. */
  root: string;
  updated_ms: number;
}

/** A tile of a tenant's log, as wide as it is now. */
export interface LogTileTable {
  tenant_id: number;
  /** Level of the hashes; -1 for entries. */
  level: number;
  tile: number;
  bytes: Uint8Array;
}

/** Consecutive entries of a log, with what their records are found by. */
export interface LogRangeTable {
  tenant_id: number;
  first_index: number;
  entry_count: number;
  kind: RecordKind;
  /** Id of the record; for events, of their session. */
  id: string;
  /** Arrival of the first event, which those of the others follow; 0 for other kinds. */
  first_arrival: number;
  /** Secret that the salts of the entries are computed from, in Base64. */
  secret: string;
}

/** A record that waits to be logged. */
export interface LogPendingTable {
  tenant_id: number;
  kind: Exclude<RecordKind, 'event'>;
  id: string;
}

/** The record of a deletion. */
export interface LogDeletionTable {
  tenant_id: number;
  id: string;
  /** Its fields, as JSON. */
  record: string;
}

/** Newest checkpoint of a log that witnesses cosigned. */
export interface LogCosignedTable {
  tenant_id: number;
  size: number;
  /** Checkpoint with all signatures. */
  note: string;
}

/** A legal hold: what it covers is not deleted until it is released. A scope of null is any. */
export interface LegalHoldTable {
  tenant_id: number;
  id: string;
  /** Name of the matter, such as a case number. */
  name: string;
  agent_id: string | null;
  session_id: string | null;
  /** Earliest time of what it covers, in Unix milliseconds. */
  since_ms: number | null;
  /** Time before which that was, in Unix milliseconds. */
  until_ms: number | null;
  created_ms: number;
  created_kind: AuditActor['kind'];
  /** Key or person; `null` for an operator. */
  created_by: string | null;
  created_principal: string | null;
  /** `null` while it is in force. */
  released_ms: number | null;
  released_by: string | null;
  released_principal: string | null;
}

/** A long session that was deleted, while its events and its ranges of the log still are. */
export interface DroppedSessionTable {
  tenant_id: number;
  session_id: string;
  /** Arrival of its last event. A session with the same id that starts meanwhile goes on from there. */
  last_arrival: number;
  /** Reason that the log gives, as JSON; `null` if the log is deleted too. */
  reason: string | null;
}

/** Last row that retention has passed in a table, because it and those before it are under a legal hold. */
export interface RetentionPositionTable {
  tenant_id: number;
  /** Name of the step of the cleanup. */
  name: string;
  at_ms: number;
  id: string;
}

/** Position of a forwarder in the log of a tenant. */
export interface ForwardPositionTable {
  tenant_id: number;
  /** Name of the forwarder in the settings. */
  name: string;
  /** Index of the last entry that the destination has acknowledged; -1 for none. */
  position: number;
  /** Index of the last entry of the batch that was sent last, if a repeat must end with it. */
  sending: number | null;
  leased_until_ms: number;
  /** Random id of the lease; `null` if it was released. */
  lease: string | null;
  next_attempt_ms: number;
  /** Failed attempts since the last success. */
  failures: number;
  last_success_ms: number | null;
  /** Reason of the last failure; `null` after a success. */
  last_error: string | null;
}

/** Highest risk level of a session that a forwarder has sent. */
export interface ForwardedRiskTable {
  tenant_id: number;
  name: string;
  session_id: string;
  level: RiskLevel;
}
