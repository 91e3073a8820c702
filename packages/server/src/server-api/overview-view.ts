import type { ActivityCounts, RiskySession, WebhookHealth } from '@actlog/protocol';
import { isoTime, isoTimeOrNull } from '../lib/iso-time.ts';
import type { ActivityOfBucket } from '../storage/activity/activity-reads.ts';
import { activityCounts } from '../storage/activity/activity-store.ts';
import type { RiskiestSession } from '../storage/sessions/riskiest-sessions.ts';
import type { ChannelHealth } from '../storage/stores/channel-health.ts';

type Counts = Omit<ActivityOfBucket, 'bucket_ms'>;

/** Counts of a bucket without activity. */
export const noActivity = Object.fromEntries(
  activityCounts.map((column) => [column, 0]),
) as unknown as Counts;

/** Returns the sum of the counts of buckets. */
export function sumOfActivity(series: readonly Counts[]): Counts {
  const sum = { ...noActivity };
  for (const counts of series) {
    for (const column of activityCounts) sum[column] += counts[column];
  }
  return sum;
}

/** Returns counts as the API returns them. */
export function activityView(counts: Counts): ActivityCounts {
  return {
    events: counts.events,
    calls: counts.calls,
    errors: counts.errors,
    denials: counts.denials,
    sessions: counts.sessions,
    sessionsByLevel: {
      low: counts.sessions_low,
      medium: counts.sessions_medium,
      high: counts.sessions_high,
      critical: counts.sessions_critical,
    },
    heldActions: counts.held_actions,
    decisions: {
      allow: counts.decisions_allow,
      deny: counts.decisions_deny,
      require_approval: counts.decisions_require_approval,
    },
  };
}

/** Returns a session as the overview shows it. */
export function riskySessionView(row: RiskiestSession): RiskySession {
  return {
    id: row.id,
    agentId: row.agent_id,
    startedAt: isoTime(row.started_ms),
    lastEventAt: isoTime(row.last_event_ms),
    eventCount: row.event_count,
    errorCount: row.error_count,
    risk: { score: row.risk_score ?? 0, level: row.risk_level ?? 'low' },
  };
}

/** Returns the state of a webhook as the overview shows it. */
export function webhookHealthView(health: ChannelHealth): WebhookHealth {
  return {
    id: health.id,
    url: health.url,
    status: health.status,
    failureCount: health.failure_count,
    failingSince: isoTimeOrNull(health.failing_since_ms),
    lastDeliveryAt: isoTimeOrNull(health.last_delivery_ms),
    waiting: Number(health.waiting),
    retrying: Number(health.retrying),
  };
}
