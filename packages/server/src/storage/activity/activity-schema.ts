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
