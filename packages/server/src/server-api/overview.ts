import type {
  ActivityCounts,
  ChannelKind,
  FailingChannel,
  Overview,
  RiskySession,
  WebhookHealth,
} from '@actlog/protocol';
import { flag } from '@actlog/protocol/schemas';
import { emptySession, parseSession, sentenceOf } from '@actlog/risk';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { validationError } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull, time } from '../lib/iso-time.ts';
import type { RiskParts } from '../risk/read-risk.ts';
import type { EventReader, ListedSession } from '../storage/event-reader.ts';
import { keptFrom, retentionPolicy } from '../storage/retention/retention.ts';
import { type RiskiestSession, riskiestSessions } from '../storage/sessions/session-list.ts';
import { bucketOf, bucketsOf } from '../storage/stores/activity-change.ts';
import { type ActivityOfBucket, activityByName, activitySeries } from '../storage/stores/activity-store.ts';
import { allChannels, type ChannelHealth, channelHealth } from '../storage/stores/channel-store.ts';
import { findSessionRisks } from '../storage/stores/risk-store.ts';
import { activityCounts } from '../storage/tables.ts';
import type { Database } from '../storage/transaction.ts';

type Counts = Omit<ActivityOfBucket, 'bucket_ms'>;

/** Counts of a bucket without activity. */
const noActivity = Object.fromEntries(activityCounts.map((column) => [column, 0])) as unknown as Counts;

/** Returns the sum of the counts of buckets. */
function sumOfActivity(series: readonly Counts[]): Counts {
  const sum = { ...noActivity };
  for (const counts of series) {
    for (const column of activityCounts) sum[column] += counts[column];
  }
  return sum;
}

/** Returns counts as the API returns them. */
function activityView(counts: Counts): ActivityCounts {
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
function riskySessionView(row: RiskiestSession, state: string | undefined): RiskySession {
  return {
    ...riskySummary(row),
    sentence: sentenceOf(
      state === undefined ? emptySession() : parseSession(state),
      JSON.parse(row.tool_names) as string[],
    ),
  };
}

/** Returns a session without the sentence, for which its events are read as they arrive. */
function riskySummary(row: Omit<RiskiestSession, 'tool_names'>): Omit<RiskySession, 'sentence'> {
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

/** Returns the channels beside webhooks whose messages do not arrive. A tenant has a bounded number of channels. */
async function failingChannels(db: Database, tenantId: number): Promise<FailingChannel[]> {
  const channels = await allChannels(db, tenantId, 'others');
  return channels
    .filter(({ status, failing_since_ms: sinceMs }) => status === 'disabled' || sinceMs !== null)
    .map(({ id, kind, name, status, failing_since_ms: sinceMs }) => ({
      id,
      kind: kind as ChannelKind,
      name: name ?? '',
      status,
      failingSince: isoTimeOrNull(sinceMs),
    }));
}

/** Maximum buckets of a response: a month of hours. */
const maxBuckets = 800;

/** Number of sessions, of agents and of tools in a response. */
const listed = 10;

/** Maximum waiting actions that are counted. */
const maxWaiting = 1000;

const defaultSpanMs = 24 * 3_600_000;

/**
 * Route `GET /server/v1/overview`: what happened in a span of time, and what needs attention. Everything is read from
 * counts and indexes, so its cost does not depend on the number of events.
 */
export function overviewRoute({
  storage,
  scoring,
  events,
}: RiskParts & { readonly events: EventReader }): ServerRoute<typeof overviewQuery> {
  return {
    method: 'GET',
    path: '/overview',
    success: 200,
    query: overviewQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({
      caller: { tenantId },
      query: { since, until, interval, handled: withHandled },
    }): Promise<Overview> {
      const nowMs = Date.now();
      const buckets = bucketsOf(interval);
      const { lengthMs } = buckets;
      const endMs = until ?? nowMs;
      const untilMs = bucketOf(buckets, endMs - 1) + lengthMs;
      const sinceMs = bucketOf(buckets, since ?? endMs - defaultSpanMs);
      requireRange(sinceMs, untilMs, lengthMs);
      await scoring.beforeList(tenantId);
      const old = await oldRiskiest({ storage, events }, tenantId, sinceMs, untilMs, nowMs);
      return storage.read(tenantId, async (db) => {
        const range = { tenantId, span: interval, sinceMs, untilMs };
        const stored = await activitySeries(db, range);
        const byBucket = new Map(stored.map((counts) => [counts.bucket_ms, counts]));
        const starts = Array.from(
          { length: (untilMs - sinceMs) / lengthMs },
          (_, index) => sinceMs + index * lengthMs,
        );
        const riskiest = await riskiestSessions(db, {
          tenantId,
          sinceMs,
          untilMs,
          withHandled,
          limit: listed,
        });
        const risks = await findSessionRisks(
          db,
          tenantId,
          riskiest.map(({ id }) => id),
        );
        const known = new Set(riskiest.map(({ id }) => id));
        const risky = [
          ...riskiest.map((row) => riskySessionView(row, risks.get(row.id)?.state)),
          ...old.filter(({ id }) => !known.has(id)).map(riskySummary),
        ].sort(
          (left, right) => right.risk.score - left.risk.score || (left.startedAt < right.startedAt ? 1 : -1),
        );
        const webhooks = await channelHealth(db, tenantId);
        return {
          since: isoTime(sinceMs),
          until: isoTime(untilMs),
          interval,
          totals: activityView(sumOfActivity(stored)),
          series: starts.map((startMs) => ({
            at: isoTime(startMs),
            ...activityView(byBucket.get(startMs) ?? noActivity),
          })),
          riskiestSessions: risky.slice(0, listed),
          agents: await activityByName(db, 'agent', range, listed),
          tools: await activityByName(db, 'tool', range, listed),
          waitingActions: await countPendingActions(db, tenantId, nowMs, maxWaiting),
          webhooks: webhooks.map(webhookHealthView),
          failingChannels: await failingChannels(db, tenantId),
        };
      });
    },
  };
}

/**
 * Returns the riskiest sessions that started in a range and that retention has deleted from the database. Nobody handled
 * them: sessions that people worked on are kept there as long as in the history.
 */
async function oldRiskiest(
  { storage, events }: Pick<RiskParts, 'storage'> & { readonly events: EventReader },
  tenantId: number,
  sinceMs: number,
  untilMs: number,
  nowMs: number,
): Promise<readonly ListedSession[]> {
  const policy = await storage.read(tenantId, (db) => retentionPolicy(db, tenantId));
  const keptFromMs = keptFrom(policy, 'sessions', nowMs);
  if (keptFromMs === undefined || sinceMs >= keptFromMs) return [];
  return events.deletedSessions({
    tenantId,
    sort: 'riskScore',
    minRiskScore: 1,
    startedAfterMs: sinceMs - 1,
    startedBeforeMs: untilMs,
    limit: listed,
  });
}

/** @throws ApiError `VALIDATION_ERROR` for a range without a bucket, or with too many. */
function requireRange(sinceMs: number, untilMs: number, lengthMs: number): void {
  const count = (untilMs - sinceMs) / lengthMs;
  if (count < 1) throw validationError('query.since', 'empty_range', 'must be before `until`');
  if (count <= maxBuckets) return;
  throw validationError(
    'query.since',
    'range_too_long',
    `makes ${count} buckets with \`until\`, and ${maxBuckets} are allowed; use a later \`since\` or a longer \`interval\``,
  );
}

const timeMs = time.transform((text) => Date.parse(text));

/** Query of `GET /server/v1/overview`. */
const overviewQuery = z.strictObject({
  /** Earliest time (inclusive), rounded down to the start of a bucket. Default: 24 hours before `until`. */
  since: timeMs.optional(),
  /** Latest time (exclusive), rounded up to the end of a bucket. Default: now. */
  until: timeMs.optional(),
  /** Length of a bucket. */
  interval: z.enum(['5m', 'hour', 'day']).default('hour'),
  /** `true` if the riskiest sessions include those that a person handled and whose score has not risen since. */
  handled: flag.default(false),
});

/** Returns the number of a tenant's actions that wait for an approver, up to `limit`. */
async function countPendingActions(
  db: Database,
  tenantId: number,
  nowMs: number,
  limit: number,
): Promise<number> {
  const waiting = db
    .selectFrom('pending_actions')
    .select('id')
    .where('tenant_id', '=', tenantId)
    .where('status', '=', 'pending')
    .where('expires_ms', '>', nowMs)
    .limit(limit);
  const { count } = await db
    .selectFrom(waiting.as('waiting'))
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}
