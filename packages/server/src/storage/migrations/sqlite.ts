import { sql } from 'kysely';
import type { Migration } from '../migrate.ts';

// A table `without rowid` is stored in the order of its primary key, so that a range of keys is one run of pages. A flag
// or level that most sessions lack has a partial index, so that an ordinary session costs no entry.
const tables = `
-- Facts about the deployment, such as the retention that an operator has set.
create table deployment (
  name text primary key,
  value text not null
) without rowid;

-- Customers of the deployment. The row of a deleted tenant stays: deleted_ms ends its keys, emptied_ms says
-- that its data is gone.
create table tenants (
  id integer primary key autoincrement,
  name text not null unique,
  created_ms bigint not null,
  settings_version bigint default 0 not null,
  retention text,
  logged_retention text,
  quotas text,
  deleted_ms bigint,
  emptied_ms bigint
);

-- Keys: their digests, scopes, and the agents that they may act as.
create table api_keys (
  tenant_id bigint not null references tenants (id),
  id text not null,
  digest text not null,
  kind text not null,
  name text not null,
  scopes text not null,
  created_ms bigint not null,
  expires_ms bigint,
  last_used_ms bigint,
  created_by text,
  agents text,
  shared bigint default 0 not null,
  requires_identity bigint default 0 not null,
  constraint api_keys_key primary key (tenant_id, id)
);
create index api_keys_by_id on api_keys (id);

-- Agents that a key has acted as.
create table key_agents (
  tenant_id bigint not null references tenants (id),
  key_id text not null,
  agent_id text not null,
  constraint key_agents_key primary key (tenant_id, key_id, agent_id)
) without rowid;

-- People who are signed in.
create table sign_ins (
  tenant_id bigint not null references tenants (id),
  id text not null,
  digest text not null,
  user_id text not null,
  name text not null,
  role text not null,
  id_token text,
  member_of text not null default '[]',
  created_ms bigint not null,
  last_used_ms bigint not null,
  expires_ms bigint not null,
  constraint sign_ins_key primary key (tenant_id, id)
) without rowid;
create index sign_ins_by_digest on sign_ins (digest);
create index sign_ins_by_end on sign_ins (expires_ms);

create table rate_limits (
  tenant_id bigint not null references tenants (id),
  subject text not null,
  theoretical_arrival_ms double precision not null,
  constraint rate_limits_key primary key (tenant_id, subject)
) without rowid;

create table idempotency_keys (
  tenant_id bigint not null references tenants (id),
  endpoint text not null,
  key text not null,
  request_digest text not null,
  status integer not null,
  response text not null,
  created_ms bigint not null,
  constraint idempotency_keys_key primary key (tenant_id, endpoint, key)
);
create index idempotency_keys_by_age on idempotency_keys (created_ms);

-- What a tenant stores, spread over slots as on PostgreSQL.
create table usage (
  tenant_id bigint not null references tenants (id),
  kind text not null,
  period_ms bigint not null,
  slot integer not null,
  amount bigint not null,
  constraint usage_key primary key (tenant_id, kind, period_ms, slot)
) without rowid;

create table agents (
  tenant_id bigint not null references tenants (id),
  id text not null,
  name text,
  description text,
  framework text,
  version text,
  owner text,
  metadata text not null,
  status text not null,
  registered integer not null,
  created_ms bigint not null,
  updated_ms bigint not null,
  last_seen_ms bigint,
  constraint agents_key primary key (tenant_id, id)
) without rowid;
create index agents_by_creation on agents (tenant_id, created_ms, id);
create index agents_revoked on agents (tenant_id, id) where status = 'revoked';

-- risk_band is the whole score, risk_rank sorts sessions without a score last; the flags say what a session
-- contains.
create table sessions (
  tenant_id bigint not null references tenants (id),
  id text not null,
  agent_id text not null,
  agent_ids text not null,
  started_ms bigint not null,
  last_event_ms bigint not null,
  event_count bigint not null,
  error_count bigint not null,
  last_arrival bigint not null,
  tool_names text not null,
  risk_score double precision,
  risk_level text,
  risk_arrival bigint not null,
  log_arrival bigint not null default 0,
  risk_learned integer not null,
  received_ms bigint not null,
  risk_band integer generated always as (cast(risk_score as integer)) virtual,
  has_errors integer not null default 0,
  has_denials integer not null default 0,
  has_holds integer not null default 0,
  assignee_key text,
  risk_rank double precision generated always as (coalesce(risk_score, -1)) virtual,
  received_minute integer generated always as (received_ms / 60000) virtual,
  is_unscored integer generated always as (risk_arrival < last_arrival) virtual,
  is_unlogged integer generated always as (log_arrival < last_arrival) virtual,
  constraint sessions_key primary key (tenant_id, id)
) without rowid;
create index sessions_by_start on sessions (tenant_id, started_ms, id);
create index sessions_behind on sessions (tenant_id, id) where risk_arrival < last_arrival or log_arrival < last_arrival;
create index sessions_not_learned on sessions (tenant_id, id) where risk_learned = 0;
create index sessions_by_risk on sessions (tenant_id, risk_band, started_ms, id, risk_score) where risk_band > 0;
create index sessions_by_receipt on sessions (tenant_id, received_minute, received_ms, id);
create index sessions_by_rank on sessions (tenant_id, risk_rank, started_ms, id);
create index sessions_by_assignee on sessions (tenant_id, assignee_key, started_ms, id) where assignee_key is not null;
create index sessions_by_level on sessions (tenant_id, risk_level, started_ms, id) where risk_level <> 'low';
create index sessions_by_level_rank on sessions (tenant_id, risk_level, risk_rank, started_ms, id) where risk_level <> 'low';
create index sessions_has_errors on sessions (tenant_id, started_ms, id) where has_errors = 1;
create index sessions_has_denials on sessions (tenant_id, started_ms, id) where has_denials = 1;
create index sessions_has_holds on sessions (tenant_id, started_ms, id) where has_holds = 1;

-- Agents of a session, with what lists by agent sort by.
create table session_agents (
  tenant_id bigint not null references tenants (id),
  agent_id text not null,
  session_id text not null,
  started_ms bigint not null,
  risk_score double precision,
  risk_band integer generated always as (cast(risk_score as integer)) virtual,
  risk_rank double precision generated always as (coalesce(risk_score, -1)) virtual,
  constraint session_agents_key primary key (tenant_id, session_id, agent_id)
) without rowid;
create index session_agents_by_start on session_agents (tenant_id, agent_id, started_ms, session_id);
create index session_agents_by_risk on session_agents (tenant_id, agent_id, risk_band, started_ms, session_id, risk_score) where risk_band > 0;
create index session_agents_by_rank on session_agents (tenant_id, agent_id, risk_rank, started_ms, session_id);

-- Tools of a session.
create table session_tools (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  tool_name text not null,
  started_ms bigint not null,
  primary key (tenant_id, session_id, tool_name)
) without rowid;
create index session_tools_by_start on session_tools (tenant_id, tool_name, started_ms, session_id);

-- Not clustered: rows of this size make the tree deep, and an insert in the middle moves neighboring rows.
create table events (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  source_ms bigint not null,
  event_id text not null,
  arrival bigint not null,
  agent_id text not null,
  source_timestamp text not null,
  category text not null,
  schema_version text not null,
  payload text not null,
  received_ms bigint not null,
  stamp integer not null,
  identity text,
  mark integer not null default 0,
  place bigint not null,
  agent_key integer,
  tool_key integer,
  hash_key integer,
  traceparent text,
  constraint events_by_id unique (tenant_id, event_id)
);
create index events_by_session on events (tenant_id, session_id, source_ms, event_id, arrival);
-- Failed and denied calls, and decisions against actions: few, so an ordinary event costs no entry.
create index events_marked on events (tenant_id, session_id, mark, source_ms) where mark <> 0;

-- The search walks these from the newest place. Keys are 32 bits of a hash, so that an entry has about twenty bytes. An event
-- without an agent_key has no entry by agent, tool or hash: it was recorded with a history, which finds it.
create index events_by_place on events (tenant_id, place);
create index events_by_agent on events (tenant_id, agent_key, place) where agent_key is not null;
create index events_by_tool on events (tenant_id, tool_key, place) where tool_key is not null and agent_key is not null;
create index events_by_hash on events (tenant_id, hash_key, place) where hash_key is not null and agent_key is not null;
create index events_by_category on events (tenant_id, category, place) where category <> 'tool_api';
create index events_by_mark on events (tenant_id, mark, place) where mark <> 0;
create index events_by_agent_mark on events (tenant_id, agent_key, mark, place) where mark <> 0 and agent_key is not null;
create index events_by_tool_mark on events (tenant_id, tool_key, mark, place) where mark <> 0 and agent_key is not null;

-- Counts of what happened, by tenant and bucket of time.
create table activity (
  tenant_id bigint not null,
  span text not null,
  kind text not null,
  bucket_ms bigint not null,
  name text not null,
  slot integer not null,
  events bigint not null default 0,
  calls bigint not null default 0,
  errors bigint not null default 0,
  denials bigint not null default 0,
  sessions bigint not null default 0,
  sessions_low bigint not null default 0,
  sessions_medium bigint not null default 0,
  sessions_high bigint not null default 0,
  sessions_critical bigint not null default 0,
  held_actions bigint not null default 0,
  decisions_allow bigint not null default 0,
  decisions_deny bigint not null default 0,
  decisions_require_approval bigint not null default 0,
  primary key (tenant_id, span, kind, bucket_ms, name, slot)
) without rowid;
create index activity_by_age on activity (span, bucket_ms);

-- State of the risk engine for sessions, agents and tenants.
create table session_risk (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  state text not null,
  baseline text,
  tags_version integer,
  constraint session_risk_key primary key (tenant_id, session_id)
);

create table agent_baselines (
  tenant_id bigint not null references tenants (id),
  agent_id text not null,
  baseline text not null,
  constraint agent_baselines_key primary key (tenant_id, agent_id)
);

create table tenant_risk (
  tenant_id bigint primary key references tenants (id),
  state text not null
);

-- Judgments of people about what raises the risk of sessions. A session is within one if its newest event was received
-- from from_ms until before until_ms, which is the end of time for a judgment without an end.
create table risk_judgments (
  tenant_id bigint not null references tenants (id),
  id text not null,
  kind text not null,
  session_id text,
  agent_id text,
  tool_name text,
  rule_id text,
  actions bigint,
  reason text not null,
  created_ms bigint not null,
  created_by text not null,
  created_principal text,
  from_ms bigint not null,
  until_ms bigint not null,
  expires_ms bigint,
  ended_ms bigint,
  ended_by text,
  ended_principal text,
  constraint risk_judgments_key primary key (tenant_id, id)
) without rowid;
create index risk_judgments_by_end on risk_judgments (tenant_id, until_ms) where session_id is null;
create index risk_judgments_by_session on risk_judgments (tenant_id, session_id) where session_id is not null;

-- Sessions that a person handled, with the whole score at that time.
create table handled_sessions (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  score integer not null,
  reason text not null,
  handled_ms bigint not null,
  handled_by text not null,
  handled_principal text,
  constraint handled_sessions_key primary key (tenant_id, session_id)
) without rowid;

-- Comments on sessions, and their assignments to people.
create table session_notes (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  id text not null,
  kind text not null,
  text text not null,
  written_ms bigint not null,
  written_by text not null,
  written_principal text,
  constraint session_notes_key primary key (tenant_id, session_id, id)
) without rowid;

-- Corrected tags of tools. A set never changes, so a session keeps the one that it began with.
create table tool_tag_sets (
  tenant_id bigint not null references tenants (id),
  version integer not null,
  tags text not null,
  created_ms bigint not null,
  constraint tool_tag_sets_key primary key (tenant_id, version)
) without rowid;

create table policies (
  tenant_id bigint not null references tenants (id),
  id text not null,
  status text not null,
  definition text not null,
  created_ms bigint not null,
  updated_ms bigint not null,
  archived_ms bigint,
  version integer not null,
  constraint policies_key primary key (tenant_id, id)
);
create index policies_by_creation on policies (tenant_id, created_ms, id);
create index policies_by_status on policies (tenant_id, status, id, version, updated_ms);

-- Counts of rate conditions.
create table policy_counts (
  tenant_id bigint not null references tenants (id),
  policy_id text not null,
  subject text not null,
  slice_ms bigint not null,
  actions bigint not null,
  constraint policy_counts_key primary key (tenant_id, policy_id, subject, slice_ms)
) without rowid;
create index policy_counts_by_age on policy_counts (slice_ms);

-- Decisions about checked actions, one for each held action, with a retention of their own.
create table policy_decisions (
  tenant_id bigint not null references tenants (id),
  id text not null,
  decided_ms bigint not null,
  agent_id text not null,
  session_id text,
  action_id text,
  tool_name text not null,
  arguments_hash text not null,
  framework text,
  environment text,
  decision text not null,
  decided_by text,
  pending_action_id text,
  dry_run integer not null,
  duration_us integer not null,
  matched text,
  arguments text,
  origins text,
  grant_id text,
  principal text,
  subagent text,
  parent_agents text,
  executed_hash text,
  identity text,
  traceparent text,
  held_status text,
  ended_ms bigint,
  constraint policy_decisions_key primary key (tenant_id, id)
) without rowid;
create index policy_decisions_by_session on policy_decisions (tenant_id, session_id, id) where session_id is not null;
create unique index policy_decisions_by_held_action on policy_decisions (tenant_id, pending_action_id)
  where held_status is not null;

-- Actions by the id that their caller gave them, so that a check can be repeated.
create table checked_actions (
  tenant_id bigint not null references tenants (id),
  agent_id text not null,
  action_id text not null,
  action_digest text not null,
  pending_action_id text,
  counted integer not null,
  created_ms bigint not null,
  grant_id text,
  constraint checked_actions_key primary key (tenant_id, agent_id, action_id)
) without rowid;
create index checked_actions_by_age on checked_actions (created_ms) where pending_action_id is null;
create index checked_actions_by_held_action on checked_actions (tenant_id, pending_action_id) where pending_action_id is not null;

-- Held actions, and who approved them.
create table pending_actions (
  tenant_id bigint not null references tenants (id),
  id text not null,
  status text not null,
  agent_id text not null,
  session_id text,
  policy_id text not null,
  policy_name text not null,
  action_digest text not null,
  action text not null,
  reason text not null,
  created_ms bigint not null,
  expires_ms bigint not null,
  on_timeout text not null,
  comment text,
  decided_by text,
  decided_ms bigint,
  single_use integer default 0 not null,
  used_by text,
  used_ms integer,
  required_approvers integer default 1 not null,
  not_requester integer default 0 not null,
  verified_principal integer default 0 not null,
  approver_keys text,
  approver_groups text,
  approvals text,
  requested_by text,
  principal text,
  subagent text,
  parent_agents text,
  identity text,
  traceparent text,
  policies text,
  grant_id text,
  editable text,
  changes text,
  executed_hash text,
  decided_principal text,
  constraint pending_actions_key primary key (tenant_id, id)
);
create index pending_actions_by_creation on pending_actions (tenant_id, status, created_ms, id);
create index pending_actions_by_age on pending_actions (tenant_id, created_ms, id);
create index pending_actions_by_action on pending_actions (tenant_id, agent_id, action_digest);
create index pending_actions_by_end on pending_actions (expires_ms) where status = 'pending';

-- Approvals of later actions.
create table approval_grants (
  tenant_id bigint not null references tenants (id),
  id text not null,
  session_id text not null,
  agent_id text not null,
  principal text,
  granted_for text not null,
  tool_name text not null,
  action_digest text not null,
  policies text not null,
  pending_action_id text not null,
  granted_by text not null,
  created_ms bigint not null,
  expires_ms bigint not null,
  max_uses integer,
  uses integer not null,
  revoked_ms bigint,
  revoked_by text,
  granted_principal text,
  revoked_principal text,
  constraint approval_grants_key primary key (tenant_id, id)
) without rowid;
create index approval_grants_by_session on approval_grants (tenant_id, session_id, expires_ms);
create index approval_grants_by_end on approval_grants (tenant_id, expires_ms, id);

-- Histories of sessions that conditions of policies read, with a row for each call, so that a check writes one
-- call and not all of them.
create table call_histories (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  updated_ms bigint not null,
  summary text not null,
  constraint call_histories_key primary key (tenant_id, session_id)
);
create index call_histories_by_age on call_histories (tenant_id, updated_ms, session_id);

create table session_calls (
  tenant_id bigint not null,
  session_id text not null,
  number bigint not null,
  call text not null,
  primary key (tenant_id, session_id, number),
  foreign key (tenant_id, session_id) references call_histories (tenant_id, session_id) on delete cascade
) without rowid;

create table agent_tools (
  tenant_id bigint not null references tenants (id),
  agent_id text not null,
  tools text not null,
  constraint agent_tools_key primary key (tenant_id, agent_id)
) without rowid;

-- Webhooks, and the outbox of their messages.
create table notification_channels (
  tenant_id bigint not null references tenants (id),
  id text not null,
  url text not null,
  events text not null,
  secret text not null,
  status text not null,
  created_ms bigint not null,
  last_delivery_ms bigint,
  failure_count integer not null,
  failing_since_ms bigint,
  previous_secret text,
  previous_until_ms bigint,
  risk_level text not null,
  kind text not null default 'webhook',
  name text,
  settings text not null default '{}',
  rules text not null default '{}',
  muted_until_ms bigint,
  constraint notification_channels_key primary key (tenant_id, id)
);
create index notification_channels_by_creation on notification_channels (tenant_id, created_ms, id);

create table deliveries (
  tenant_id bigint not null references tenants (id),
  id text not null,
  channel_id text not null,
  message_id text not null,
  event_type text not null,
  body text not null,
  status text not null,
  attempts integer not null,
  next_attempt_ms bigint not null,
  leased_until_ms bigint not null,
  created_ms bigint not null,
  finished_ms bigint,
  last_status integer,
  last_error text,
  last_duration_ms integer,
  subject text,
  recipient text,
  reference text,
  constraint deliveries_key primary key (tenant_id, id)
);
create index deliveries_due on deliveries (next_attempt_ms) where status = 'waiting';
create index deliveries_by_channel on deliveries (tenant_id, channel_id, created_ms, id);
create index deliveries_by_age on deliveries (tenant_id, created_ms) where status <> 'waiting';
create index deliveries_by_subject on deliveries (tenant_id, subject) where subject is not null;
create index deliveries_waiting on deliveries (tenant_id, channel_id, attempts) where status = 'waiting';

-- People who have signed in, for channels in which they act without a browser.
create table people (
  tenant_id bigint not null references tenants (id),
  id text not null,
  name text not null,
  email text,
  member_of text not null,
  seen_ms bigint not null,
  constraint people_key primary key (tenant_id, id)
);
create index people_by_email on people (tenant_id, email) where email is not null;
create index people_by_time on people (seen_ms);

-- Browsers to which people have their notifications pushed.
create table push_subscriptions (
  tenant_id bigint not null references tenants (id),
  id text not null,
  person_id text not null,
  digest text not null,
  label text not null,
  subscription text not null,
  created_ms bigint not null,
  constraint push_subscriptions_key primary key (tenant_id, id)
);
create unique index push_subscriptions_by_digest on push_subscriptions (tenant_id, digest);
create index push_subscriptions_by_person on push_subscriptions (tenant_id, person_id);

-- Rules of alerts, and the causes that they have found.
create table alert_rules (
  tenant_id bigint not null references tenants (id),
  id text not null,
  definition text not null,
  muted_until_ms bigint,
  created_ms bigint not null,
  updated_ms bigint not null,
  constraint alert_rules_key primary key (tenant_id, id)
);

create table alerts (
  tenant_id bigint not null references tenants (id),
  rule_id text not null,
  cause text not null,
  occurrences integer not null,
  times text not null,
  example text not null,
  first_ms bigint not null,
  last_ms bigint not null,
  sent_ms bigint,
  sent_occurrences integer not null,
  constraint alerts_key primary key (tenant_id, rule_id, cause)
);
create index alerts_by_age on alerts (last_ms);

-- Changes by people and keys, with a retention of their own.
create table audit_log (
  tenant_id bigint not null references tenants (id),
  id text not null,
  at_ms bigint not null,
  actor_kind text not null,
  actor_id text,
  actor_name text,
  principal text,
  action text not null,
  target_kind text not null,
  target_id text not null,
  target_name text,
  changes text not null,
  constraint audit_log_key primary key (tenant_id, id)
) without rowid;
create index audit_log_by_actor_id on audit_log (tenant_id, actor_id, id);
create index audit_log_by_target_id on audit_log (tenant_id, target_id, id);
create index audit_log_by_target_kind on audit_log (tenant_id, target_kind, id);

-- The log of each tenant, as C2SP tlog-tiles: its head, its tiles, and for each range of entries what its records are
-- found by. A range is deleted with its records, a tile never.
create table log_heads (
  tenant_id bigint primary key references tenants (id),
  size bigint not null,
  root text not null,
  updated_ms bigint not null
);
create index log_heads_by_growth on log_heads (updated_ms);

create table log_tiles (
  tenant_id bigint not null references tenants (id),
  level integer not null,
  tile bigint not null,
  bytes blob not null,
  primary key (tenant_id, level, tile)
);

create table log_ranges (
  tenant_id bigint not null references tenants (id),
  first_index bigint not null,
  entry_count integer not null,
  kind text not null,
  id text not null,
  first_arrival bigint not null,
  secret text not null,
  primary key (tenant_id, first_index)
) without rowid;
create index log_ranges_by_record on log_ranges (tenant_id, id, kind, first_arrival);

-- Records other than events that wait to be logged.
create table log_pending (
  tenant_id bigint not null references tenants (id),
  kind text not null,
  id text not null,
  primary key (tenant_id, kind, id)
) without rowid;

create table log_deletions (
  tenant_id bigint not null references tenants (id),
  id text not null,
  record text not null,
  primary key (tenant_id, id)
) without rowid;

-- Newest checkpoint that witnesses cosigned.
create table log_cosigned (
  tenant_id bigint primary key references tenants (id),
  size bigint not null,
  note text not null
);

-- Legal holds: nothing that one covers is deleted until it is released.
create table legal_holds (
  tenant_id bigint not null references tenants (id),
  id text not null,
  name text not null,
  agent_id text,
  session_id text,
  since_ms bigint,
  until_ms bigint,
  created_ms bigint not null,
  created_kind text not null,
  created_by text,
  created_principal text,
  released_ms bigint,
  released_by text,
  released_principal text,
  primary key (tenant_id, id)
) without rowid;
create index legal_holds_active on legal_holds (tenant_id) where released_ms is null;

-- Long sessions that were deleted, while their events and ranges of the log still are: those up to last_arrival. No read
-- shows them. The reason is the one that the log gives, as JSON; null if the log is deleted too.
create table dropped_sessions (
  tenant_id bigint not null references tenants (id),
  session_id text not null,
  last_arrival bigint not null,
  reason text,
  primary key (tenant_id, session_id)
) without rowid;

-- Rows up to which retention has passed, so that those under a legal hold are not read again each time.
create table retention_positions (
  tenant_id bigint not null references tenants (id),
  name text not null,
  at_ms bigint not null,
  id text not null,
  primary key (tenant_id, name)
) without rowid;

-- Each version of each policy, for evidence of the policies that were in force.
create table policy_versions (
  tenant_id bigint not null references tenants (id),
  policy_id text not null,
  version integer not null,
  status text not null,
  definition text not null,
  from_ms bigint not null,
  primary key (tenant_id, policy_id, version)
) without rowid;

-- First entry that was appended to a log in each minute with entries.
create table log_times (
  tenant_id bigint not null references tenants (id),
  minute bigint not null,
  first_index bigint not null,
  primary key (tenant_id, minute)
) without rowid;

-- Positions of the forwarders in the log of each tenant.
create table forward_positions (
  tenant_id bigint not null references tenants (id),
  name text not null,
  position bigint not null,
  sending bigint,
  leased_until_ms bigint not null,
  lease text,
  next_attempt_ms bigint not null,
  failures integer not null,
  last_success_ms bigint,
  last_error text,
  primary key (tenant_id, name)
) without rowid;

-- Highest risk level of a session that a forwarder has sent.
create table forwarded_risk (
  tenant_id bigint not null references tenants (id),
  name text not null,
  session_id text not null,
  level text not null,
  primary key (tenant_id, session_id, name)
) without rowid;
`;

/**
 * Statistics of the indexes of tables that grow, as `analyze` finds them in a database with a million events: rows, and rows
 * with the same first column, the same first two columns, and so on. Without them SQLite takes a tenant for ten rows, and reads
 * all sessions of the tenant where it should look a few up. They are not measured again, so plans stay the same.
 */
const statistics = `
sessions sessions 90000 90000 1
sessions sessions_by_start 90000 90000 1 1
sessions sessions_by_rank 90000 90000 900 1 1
sessions sessions_by_receipt 90000 90000 6 1 1
sessions sessions_by_risk 90000 90000 900 1 1 1
sessions sessions_behind 100 100 1
sessions sessions_not_learned 1000 1000 1
sessions sessions_by_level 1000 1000 500 1 1
sessions sessions_by_level_rank 1000 1000 500 20 1 1
sessions sessions_by_assignee 1000 1000 50 1 1
sessions sessions_has_errors 30000 30000 1 1
sessions sessions_has_denials 1000 1000 1 1
sessions sessions_has_holds 1000 1000 1 1
session_agents session_agents 90000 90000 1 1
session_agents session_agents_by_start 90000 90000 9000 1 1
session_agents session_agents_by_rank 90000 90000 9000 90 1 1
session_agents session_agents_by_risk 90000 90000 9000 90 1 1 1
session_tools session_tools 630000 630000 7 1
session_tools session_tools_by_start 630000 630000 80000 1 1
session_risk sqlite_autoindex_session_risk_1 90000 90000 1
events sqlite_autoindex_events_1 1000000 1000000 1
events events_by_session 1000000 1000000 12 1 1 1
events events_by_place 1000000 1000000 1
events events_by_agent 1000000 1000000 100000 1
events events_by_tool 1000000 1000000 125000 1
events events_by_hash 1000000 1000000 11 1
events events_by_category 30000 30000 10000 1
events events_by_mark 30000 30000 15000 1
events events_by_agent_mark 30000 30000 3000 1500 1
events events_by_tool_mark 30000 30000 15000 15000 1
events events_marked 30000 30000 1 1 1
activity activity 24000 24000 8000 3500 30 1 1
activity activity_by_age 24000 8000 80
log_tiles sqlite_autoindex_log_tiles_1 8000 8000 2000 1
log_ranges log_ranges 1000000 1000000 1
log_ranges log_ranges_by_record 1000000 1000000 12 12 1
log_times log_times 144000 144000 1
`;

/** Returns the statements that store the statistics. */
function statisticsSql(): string[] {
  const rows = statistics
    .trim()
    .split('\n')
    .map((line) => {
      const [table, index, ...counts] = line.split(' ');
      return `('${table}', '${index}', '${counts.join(' ')}')`;
    });
  // The first statement creates the table, the last one makes the open connection read it.
  return [
    'analyze deployment',
    `insert into sqlite_stat1 (tbl, idx, stat) values ${rows.join(', ')}`,
    'analyze sqlite_schema',
  ];
}

/** All migrations of SQLite, oldest first. A released migration is never changed. */
export const sqliteMigrations: readonly Migration[] = [
  {
    name: '0001-initial',
    async up(db) {
      const created = tables.split(';\n').filter((text) => text.trim() !== '');
      for (const statement of [...created, ...statisticsSql()]) {
        await sql.raw(statement).execute(db);
      }
    },
  },
];
