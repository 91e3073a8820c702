import { matchesGlob } from '@actlog/policy';
import {
  type AgentKey,
  type ApplyingPolicy,
  type NamedActivity,
  type NamedActivityList,
  type NamedActivityReport,
  type RiskOfDay,
  toolCallCategory,
} from '@actlog/protocol';
import { parseBaseline } from '@actlog/risk';
import * as z from 'zod';
import { requireScope } from '../http/request-gate.ts';
import type { ServerRoute } from '../http/server-route.ts';
import { validationError } from '../lib/api-error.ts';
import { isoTime, isoTimeOrNull, timeMs } from '../lib/iso-time.ts';
import type { PolicySets } from '../policy/policy-set.ts';
import type { RiskScoring } from '../risk/risk-scoring.ts';
import type { EventReader } from '../storage/event-reader.ts';
import type { Storage } from '../storage/storage.ts';
import { bucketOf, bucketsOf } from '../storage/stores/activity-change.ts';
import { activityByCalls, activityOfName } from '../storage/stores/activity-store.ts';
import { callOutcome, type ToolCall } from '../storage/stores/event-log.ts';
import type { EventSearchFilters } from '../storage/stores/event-search.ts';
import { keysActingAs } from '../storage/stores/key-store.ts';
import { findBaseline } from '../storage/stores/risk-store.ts';
import type { Database } from '../storage/transaction.ts';

/** Parts of the routes of agents and tools. */
export interface NamedActivityParts {
  readonly storage: Storage;
  readonly policySets: PolicySets;
  readonly scoring: RiskScoring;
  readonly events: EventReader;
}

const days = 30;

/** Newest calls that show what is usual. */
const maxRecent = 1000;

const maxNames = 20;

const dayBuckets = bucketsOf('day');

/** Routes `GET /server/v1/agents/:id/activity` and `GET /server/v1/tools/:id/activity`: what one of them did, and what applies to it. */
export function namedActivityRoutes(parts: NamedActivityParts): readonly ServerRoute[] {
  return (['agent', 'tool'] as const).map((kind) => ({
    method: 'GET',
    path: `/${kind}s/:id/activity`,
    success: 200,
    check: (caller) => requireScope(caller, 'read'),
    async handle({ caller, id }): Promise<NamedActivityReport> {
      const { tenantId } = caller;
      const isAgent = kind === 'agent';
      if (isAgent) await parts.scoring.beforeList(tenantId);
      const of = isAgent ? { agentId: id } : { toolName: id };
      const recent = await recentCalls(parts.events, tenantId, of);
      const risk = isAgent ? await riskByDay(parts.events, tenantId, id) : null;
      return parts.storage.read(tenantId, async (db) => {
        const { calls } = recent;
        const policies = await applyingPolicies(parts, db, tenantId, kind, id);
        const baseline = isAgent ? await findBaseline(db, tenantId, id) : null;
        const mayManage = caller.scopes.has('manage');
        return {
          ...(await daysOf(db, tenantId, kind, id, recent)),
          risk,
          recent: recentView(calls, isAgent ? ({ toolName }) => toolName : ({ agentId }) => agentId),
          policies,
          learnedSessions: isAgent ? learnedSessions(baseline) : null,
          isVerified: isAgent ? (calls[0]?.isVerified ?? null) : null,
          keys: isAgent && mayManage ? await keysOf(db, tenantId, id) : null,
        };
      });
    },
  }));
}

type RecentCalls = Awaited<ReturnType<typeof recentCalls>>;
type RecentCall = RecentCalls['calls'][number];

/** Returns the newest calls of an agent or a tool, the newest first, and `isComplete` if there are no further ones. */
async function recentCalls(
  events: EventReader,
  tenantId: number,
  of: Pick<EventSearchFilters, 'agentId' | 'toolName'>,
) {
  const search = { ...of, category: toolCallCategory, tenantId, limit: maxRecent };
  const { events: found, end, isHistoryMissing = false } = await events.search(search);
  const calls = found.map(({ event: { agentId, sourceTimestamp, payload, identity } }) => {
    const { toolName, responseStatus } = payload as unknown as ToolCall;
    return {
      atMs: Date.parse(sourceTimestamp),
      agentId,
      toolName,
      outcome: callOutcome(responseStatus),
      isVerified: identity?.agentVerified === true,
    };
  });
  return { calls, isComplete: end === undefined && !isHistoryMissing };
}

/**
 * Returns the calls by day. A bucket counts a bounded number of names, so the newest calls decide for their days: all
 * days if they are all calls, otherwise the days that they have more of.
 */
async function daysOf(
  db: Database,
  tenantId: number,
  kind: 'agent' | 'tool',
  name: string,
  { calls: newest, isComplete }: RecentCalls,
): Promise<Pick<NamedActivityReport, 'since' | 'days'>> {
  const { lengthMs } = dayBuckets;
  const untilMs = bucketOf(dayBuckets, Date.now()) + lengthMs;
  const sinceMs = untilMs - days * lengthMs;
  const range = { tenantId, span: 'day', sinceMs, untilMs } as const;
  const counted = isComplete ? [] : await activityOfName(db, kind, name, range);
  const byDay = new Map(counted.map(({ bucket_ms: atMs, ...counts }) => [atMs, counts]));
  for (const [atMs, calls] of Map.groupBy(newest, (call) => bucketOf(dayBuckets, call.atMs))) {
    if (calls.length > (byDay.get(atMs)?.calls ?? 0)) byDay.set(atMs, countsOf(calls));
  }
  return {
    since: isoTime(sinceMs),
    days: Array.from({ length: days }, (_, index) => {
      const atMs = sinceMs + index * lengthMs;
      return { at: isoTime(atMs), ...(byDay.get(atMs) ?? countsOf([])) };
    }),
  };
}

/** Returns the highest score of an agent's sessions by day. */
async function riskByDay(events: EventReader, tenantId: number, agentId: string): Promise<RiskOfDay[]> {
  const { lengthMs } = dayBuckets;
  const todayMs = bucketOf(dayBuckets, Date.now());
  const startsMs = Array.from({ length: days }, (_, index) => todayMs - (days - 1 - index) * lengthMs);
  const scores = await events.highestScores(tenantId, [agentId], { startsMs, lengthMs });
  const byDay = new Map(scores.map(({ startMs, score }) => [startMs, score]));
  return startsMs.map((startMs) => ({ at: isoTime(startMs), score: byDay.get(startMs) ?? null }));
}

/** Days that the risk of a list is of, and the maximum agents that have one. */
const [riskDays, maxScored] = [7, 200];

/** Returns the highest score of the sessions of the last days, by agent. */
async function recentRisk(
  events: EventReader,
  tenantId: number,
  agentIds: readonly string[],
): Promise<Record<string, number>> {
  const lengthMs = riskDays * dayBuckets.lengthMs;
  const startsMs = [Date.now() - lengthMs];
  // Sessions may start a moment later than now by the clock of their agent.
  const scores = await events.highestScores(tenantId, agentIds.slice(0, maxScored), {
    startsMs,
    lengthMs: 2 * lengthMs,
  });
  return Object.fromEntries(scores.map(({ agentId, score }) => [agentId, score]));
}

function countsOf(calls: readonly RecentCall[]): Omit<NamedActivity, 'name'> {
  return {
    calls: calls.length,
    errors: calls.filter(({ outcome }) => outcome === 'error').length,
    denials: calls.filter(({ outcome }) => outcome === 'denied').length,
  };
}

function recentView(
  calls: readonly RecentCall[],
  nameOf: (call: RecentCall) => string,
): NamedActivityReport['recent'] {
  const hours = Array.from({ length: 24 }, () => 0);
  for (const { atMs } of calls) {
    const hour = new Date(atMs).getUTCHours();
    hours[hour] = (hours[hour] ?? 0) + 1;
  }
  const byName = [...Map.groupBy(calls, nameOf)].map(([name, group]) => ({ name, ...countsOf(group) }));
  byName.sort((left, right) => right.calls - left.calls || (left.name < right.name ? -1 : 1));
  return {
    calls: calls.length,
    since: isoTimeOrNull(calls.at(-1)?.atMs ?? null),
    names: byName.slice(0, maxNames),
    nameCount: byName.length,
    hours,
  };
}

/** Returns the active policies whose patterns match the name. Conditions, rates and schedules are not looked at. */
async function applyingPolicies(
  { policySets }: NamedActivityParts,
  db: Database,
  tenantId: number,
  kind: 'agent' | 'tool',
  name: string,
): Promise<ApplyingPolicy[]> {
  const { policies } = await policySets.of(db, tenantId);
  const matching = policies.filter(({ definition: { match } }) => {
    const patterns = kind === 'agent' ? match?.agents : match?.tools;
    return patterns === undefined || patterns.some((pattern) => matchesGlob(pattern, name));
  });
  return matching
    .map(({ id, definition }) => ({
      id,
      name: definition.name,
      effect: definition.effect,
      mode: definition.mode,
      priority: definition.priority,
    }))
    .sort((left, right) => right.priority - left.priority || (left.name < right.name ? -1 : 1));
}

function learnedSessions(baseline: string | null): number {
  return baseline === null ? 0 : (parseBaseline(baseline)?.sessions.size ?? 0);
}

async function keysOf(db: Database, tenantId: number, agentId: string): Promise<AgentKey[]> {
  const keys = await keysActingAs(db, tenantId, agentId);
  return keys.map(({ id, name, agents, lastUsedMs }) => ({
    id: `key_${id}`,
    name,
    agents: agents ?? null,
    lastUsedAt: isoTimeOrNull(lastUsedMs),
  }));
}

/** Maximum span of a list, in milliseconds: the days that agents and tools are counted for. */
const maxSpanMs = 400 * 86_400_000;

/** Query of `GET /server/v1/activity`. */
const activityQuery = z.strictObject({
  /** List of agents, or of tools. */
  kind: z.enum(['agent', 'tool']),
  /** Earliest time (inclusive), rounded down to an hour. Default: 30 days before `until`. */
  since: timeMs.optional(),
  /** Latest time (exclusive), rounded up to an hour. Default: now. */
  until: timeMs.optional(),
  /** Most names of a response. */
  limit: z.coerce.number().int().min(1).max(500).default(200),
});

/** Route `GET /server/v1/activity`: agents or tools by their calls, most first. */
export function activityRoute({
  storage,
  scoring,
  events,
}: NamedActivityParts): ServerRoute<typeof activityQuery> {
  return {
    method: 'GET',
    path: '/activity',
    success: 200,
    query: activityQuery,
    check: (caller) => requireScope(caller, 'read'),
    async handle({
      caller: { tenantId },
      query: { kind, since, until = Date.now(), limit },
    }): Promise<NamedActivityList> {
      const hours = bucketsOf('hour');
      const untilMs = bucketOf(hours, until - 1) + hours.lengthMs;
      const sinceMs = bucketOf(hours, since ?? until - days * dayBuckets.lengthMs);
      if (sinceMs >= untilMs) throw validationError('query.since', 'empty_range', 'must be before `until`');
      if (untilMs - sinceMs > maxSpanMs) {
        throw validationError('query.since', 'range_too_long', 'must be at most 400 days before `until`');
      }
      const range = { tenantId, span: 'hour', sinceMs, untilMs } as const;
      if (kind === 'agent') await scoring.beforeList(tenantId);
      const { names: items, others } = await storage.read(tenantId, (db) =>
        activityByCalls(db, kind, range, limit),
      );
      const agentIds = items.map(({ name }) => name);
      const risk = kind === 'agent' ? await recentRisk(events, tenantId, agentIds) : null;
      return { since: isoTime(sinceMs), until: isoTime(untilMs), items, others, risk };
    },
  };
}
