import type { Channel } from './channels.ts';
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

/** Highest score of the sessions of a day. */
export interface RiskOfDay {
  /** Start of the day: ISO 8601 in UTC, with milliseconds. */
  readonly at: string;
  /** Highest whole score of the sessions that started on the day and that the agent acted in; null if none scores 1 or more. */
  readonly score: number | null;
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
  /** Sentence that says what the session did; missing for one that is only in the history of the server. */
  readonly sentence?: string;
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

/** A channel that is not a webhook and whose messages do not arrive. */
export interface FailingChannel extends Pick<Channel, 'id' | 'kind' | 'name' | 'status' | 'failingSince'> {}

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
  /** Other channels that are disabled, or whose last message failed, oldest first. */
  readonly failingChannels: readonly FailingChannel[];
}

/** Counts of the events of a session that stand out. */
export interface SessionMarkCounts {
  /** Calls with a `responseStatus` of 400 or more, without denials. */
  readonly errors: number;
  /** Denied actions: calls with the status 403, or decisions against actions if there are more of those. */
  readonly denials: number;
  /** Actions that were held for approval. */
  readonly held: number;
  /** Events that raise the risk most: see {@link riskyEvents}. */
  readonly risky: number;
}

/** Events in one part of the time of a session. */
export interface SessionMarkBucket extends SessionMarkCounts {
  /** Start of the part: ISO 8601 in UTC, with milliseconds. */
  readonly at: string;
  /** All events, up to 1,000. */
  readonly events: number;
}

/** An event of a session that stands out, without the rest of its payload. */
export interface NotableEvent {
  readonly eventId: string;
  readonly agentId: string;
  readonly sourceTimestamp: string;
  readonly category: string;
  readonly payload: Readonly<Record<string, string | number>>;
}

/** Response of `GET /server/v1/sessions/{id}/place` of the actlog server: where the events around a time begin. */
export interface SessionPlace {
  /** Cursor of the page of the session's events that has the place, some events after its start; null for the first page. */
  readonly cursor: string | null;
  /** Number of events before that page. */
  readonly before: number;
}

/** Calls of one tool in a session. */
export interface SessionToolCalls {
  readonly toolName: string;
  /** Calls, without those that were denied. */
  readonly calls: number;
}

/** Response of `GET /server/v1/sessions/{id}/marks` of the actlog server: what stands out in all events of a session. */
export interface SessionMarks {
  readonly sessionId: string;
  /** Sentence that says what the session did. */
  readonly sentence: string;
  readonly eventCount: number;
  readonly counts: SessionMarkCounts;
  /** Tools that the session called, most called first; at most 28 of the tools of a session with more. */
  readonly tools: readonly SessionToolCalls[];
  /** `false` if there are more errors, denials or held actions than the first 50,000 of each, which are counted. */
  readonly isComplete: boolean;
  /** Length of a bucket, in milliseconds. */
  readonly bucketMs: number;
  /** Parts of the session's time with events, oldest first; at most 240. */
  readonly buckets: readonly SessionMarkBucket[];
  /** The events that matter most, oldest first; at most 24. */
  readonly notable: readonly NotableEvent[];
}

/** Share of the strongest event's points from which an event counts as risky. */
const riskyShare = 1 / 3;

/** Maximum events of a session that count as risky. */
const maxRisky = 20;

/**
 * Returns the events that a risk names as evidence and that matter, strongest first, with the points of the score that
 * their factors account for: those with at least a third of the points of the strongest, at most 20. If all evidence
 * counted, nearly every event of a risky session would stand out.
 */
export function riskyEvents(
  factors: readonly { readonly delta: number; readonly evidence: { readonly eventIds: readonly string[] } }[],
): ReadonlyMap<string, number> {
  const points = new Map<string, number>();
  for (const { delta, evidence } of factors) {
    for (const id of new Set(evidence.eventIds)) points.set(id, (points.get(id) ?? 0) + Math.max(0, delta));
  }
  const strongest = [...points].sort(([, one], [, other]) => other - one).slice(0, maxRisky);
  const least = (strongest[0]?.[1] ?? 0) * riskyShare;
  return new Map(strongest.filter(([, sum]) => sum > 0 && sum >= least));
}

/** Response of `GET /server/v1/events` of the actlog server: events of all sessions, newest first. */
export interface EventPage {
  readonly items: readonly StoredEvent[];
  /** Cursor of the next page; null for the last one. A page that is not full may still have one. */
  readonly nextCursor: string | null;
  /** Time down to which the events were searched, if the page ends for the number of events that it looked at. */
  readonly searchedTo?: string;
  /** `true` if the history of a server with one could not be searched: older events may be missing. */
  readonly isHistoryMissing?: boolean;
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
  /** Risk by the same days; null for a tool. */
  readonly risk: readonly RiskOfDay[] | null;
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
  /** Calls of names beyond those that each hour counts by name. They are in no item. */
  readonly others: Omit<NamedActivity, 'name'>;
  /** Highest whole scores of the last seven days by agent, for the first 200 items; null for tools. */
  readonly risk: Readonly<Record<string, number>> | null;
}
