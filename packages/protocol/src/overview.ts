import type { StoredEvent } from './schemas/event.ts';
import type { RiskLevel } from './schemas/risk.ts';

/** Length of the buckets of a series: five minutes, an hour, or a day of UTC. */
export type OverviewInterval = '5m' | 'hour' | 'day';

/** Counts of what happened in a span of time. */
export interface ActivityCounts {
  /** Events that agents sent, by the time in the event. */
  readonly events: number;
  /** Tool calls among them. */
  readonly calls: number;
  /** Tool calls with a `responseStatus` of 400 or more, without denials. */
  readonly errors: number;
  /** Tool calls with the `responseStatus` 403, which the recorder sets for a call that was denied. */
  readonly denials: number;
  /** Sessions that started. */
  readonly sessions: number;
  /** Number of scored sessions, by their current level. */
  readonly sessionsByLevel: Readonly<Record<RiskLevel, number>>;
  /** Actions that were held for approval. */
  readonly heldActions: number;
  /** Kept decisions of the policies, without dry runs. */
  readonly decisions: Readonly<Record<'allow' | 'deny' | 'require_approval', number>>;
}

/** Counts of one bucket. */
export interface ActivityBucket extends ActivityCounts {
  /** Start of the bucket: ISO 8601 in UTC, with milliseconds. */
  readonly at: string;
}

/** Tool calls of one agent or of one tool. */
export interface NamedActivity {
  /** Id of the agent, or name of the tool. */
  readonly name: string;
  readonly calls: number;
  readonly errors: number;
  readonly denials: number;
}

/** A session among the riskiest. */
export interface RiskySession {
  readonly id: string;
  readonly agentId: string;
  readonly startedAt: string;
  readonly lastEventAt: string;
  readonly eventCount: number;
  readonly errorCount: number;
  readonly risk: { readonly score: number; readonly level: RiskLevel };
}

/** State of the deliveries to one webhook. */
export interface WebhookHealth {
  readonly id: string;
  readonly url: string;
  readonly status: 'active' | 'disabled';
  /** Failed attempts since the last success. */
  readonly failureCount: number;
  /** Start of the current run of failures; null if the last attempt succeeded. */
  readonly failingSince: string | null;
  readonly lastDeliveryAt: string | null;
  /** Messages that wait to be delivered, up to 1,000. */
  readonly waiting: number;
  /** Messages among them that failed at least once, up to 1,000. */
  readonly retrying: number;
}

/** Response of `GET /server/v1/overview` of the actlog server. */
export interface Overview {
  /** Start of the first bucket. */
  readonly since: string;
  /** End of the last bucket (exclusive). */
  readonly until: string;
  readonly interval: OverviewInterval;
  readonly totals: ActivityCounts;
  /** All buckets from `since` to `until`, oldest first, those without activity included. */
  readonly series: readonly ActivityBucket[];
  /** Sessions that started in this time and that nobody handled, by their score, highest first; at most 10. */
  readonly riskiestSessions: readonly RiskySession[];
  /** Agents by their errors and denials, then by their calls, most first; at most 10. */
  readonly agents: readonly NamedActivity[];
  /** Tools, in the same order. */
  readonly tools: readonly NamedActivity[];
  /** Actions that wait for an approver now, up to 1,000. */
  readonly waitingActions: number;
  /** All webhooks, oldest first. */
  readonly webhooks: readonly WebhookHealth[];
}

/** Response of `GET /server/v1/events` of the actlog server: events of all sessions, newest first. */
export interface EventPage {
  readonly items: readonly StoredEvent[];
  /** Cursor of the next page; null for the last one. A page that is not full may still have one. */
  readonly nextCursor: string | null;
  /** Time down to which the events were searched, if the page ends for the number of events that it looked at. */
  readonly searchedTo?: string;
}

/** Tool calls of one day of UTC. */
export interface CallsOfDay {
  /** Start of the day: ISO 8601 in UTC. */
  readonly at: string;
  readonly calls: number;
  readonly errors: number;
  readonly denials: number;
}

/** A policy by what a list shows of it. */
export interface ApplyingPolicy {
  readonly id: string;
  readonly name: string;
  readonly effect: 'allow' | 'deny' | 'require_approval';
  readonly mode: 'enforce' | 'log_only';
  readonly priority: number;
}

/** A key that an agent uses. */
export interface AgentKey {
  readonly id: string;
  readonly name: string;
  /** Patterns of the agents that it may act as; null for any agent. */
  readonly agents: readonly string[] | null;
  readonly lastUsedAt: string | null;
}

/** Response of `GET /server/v1/agents/{id}/activity` and `GET /server/v1/tools/{name}/activity` of the actlog server. */
export interface NamedActivityReport {
  /** Start of the first day. */
  readonly since: string;
  /** Days up to today, oldest first. */
  readonly days: readonly CallsOfDay[];
  /** The newest calls, from which the usual ones follow. */
  readonly recent: {
    /** Number of these calls; at most 1,000. */
    readonly calls: number;
    /** Time of the oldest of them; null for none. */
    readonly since: string | null;
    /** Tools of the agent, or agents of the tool, among them, most calls first; at most 20. */
    readonly names: readonly NamedActivity[];
    /** Number of such names. */
    readonly nameCount: number;
    /** Calls by the hour of the day in UTC, from 0 to 23. */
    readonly hours: readonly number[];
  };
  /** Active policies whose names of agents, or of tools, match; highest priority first. */
  readonly policies: readonly ApplyingPolicy[];
  /** Sessions that the agent's baseline has learned from; null for a tool. */
  readonly learnedSessions: number | null;
  /** `true` if a token verified the agent of the newest call; null for a tool, and for no call. */
  readonly isVerified: boolean | null;
  /** Keys that have acted as the agent; null for a tool, and without the scope `manage`. */
  readonly keys: readonly AgentKey[] | null;
}

/** Response of `GET /server/v1/activity` of the actlog server: agents or tools by their calls, most first. */
export interface NamedActivityList {
  readonly since: string;
  readonly until: string;
  readonly items: readonly NamedActivity[];
}
