import type { RiskLevel } from '@actlog/protocol';
import type { ActivityCounts, ActivityKind, ActivityTable } from './activity-schema.ts';
import { activityBuckets, bucketOf, bucketsOf, oldestBucket } from './activity-spans.ts';

/** A change of one row, without the tenant and the slot. */
export type ActivityRowChange = Pick<ActivityTable, 'span' | 'kind' | 'bucket_ms' | 'name'> & {
  readonly counts: Partial<ActivityCounts>;
};

/** A session by the columns that it is counted by. */
export interface CountedSession {
  readonly startedMs: number;
  /** Level of its score; `null` before it is scored. */
  readonly level: RiskLevel | null;
}

/** A tool call by what it is counted by. */
export interface CountedCall {
  readonly agentId: string;
  readonly toolName: string;
  readonly outcome: 'success' | 'error' | 'denial';
}

type CountsByName = Map<string, Partial<ActivityCounts>>;

/** The shortest buckets with counts, from which those of the longer ones follow. */
const shortest = bucketsOf('5m');
const shortestNamed = bucketsOf('hour');

/** Changes of counts that one transaction collects, so that it writes each bucket once. */
export class ActivityChange {
  /** Counts by the start of the shortest bucket, and by name. */
  readonly #counts: Readonly<Record<ActivityKind, Map<number, CountsByName>>> = {
    all: new Map(),
    agent: new Map(),
    tool: new Map(),
  };

  /** Adds to the counts of the whole tenant at a time. */
  add(timeMs: number, counts: Partial<ActivityCounts>): void {
    addCounts(this.#sumOf('all', bucketOf(shortest, timeMs), ''), counts);
  }

  /** Counts an event that is not a tool call. */
  addEvent(timeMs: number): void {
    const sum = this.#sumOf('all', bucketOf(shortest, timeMs), '');
    sum.events = (sum.events ?? 0) + 1;
  }

  /** Counts a tool call, for the tenant, the agent and the tool. Written out, because every event passes it. */
  addCall(timeMs: number, { agentId, toolName, outcome }: CountedCall): void {
    const bucketMs = bucketOf(shortestNamed, timeMs);
    const all = this.#sumOf('all', bucketOf(shortest, timeMs), '');
    all.events = (all.events ?? 0) + 1;
    for (const sum of [
      all,
      this.#sumOf('agent', bucketMs, agentId),
      this.#sumOf('tool', bucketMs, toolName),
    ]) {
      sum.calls = (sum.calls ?? 0) + 1;
      if (outcome === 'error') sum.errors = (sum.errors ?? 0) + 1;
      else if (outcome === 'denial') sum.denials = (sum.denials ?? 0) + 1;
    }
  }

  /** Counts a session that is new, or whose start or level has changed. */
  moveSession(from: CountedSession | undefined, to: CountedSession): void {
    if (from?.startedMs === to.startedMs && from.level === to.level) return;
    if (from) this.add(from.startedMs, countsOf(from, -1));
    this.add(to.startedMs, countsOf(to, 1));
  }

  /**
   * Returns the changed rows in a fixed order, so that two transactions cannot deadlock.
   *
   * @param nowMs - determines which buckets are still counted
   */
  rows(nowMs: number): ActivityRowChange[] {
    const rows = new Map<string, ActivityRowChange>();
    for (const buckets of activityBuckets) {
      const oldestMs = oldestBucket(buckets, nowMs);
      for (const kind of buckets.hasNames ? (['agent', 'all', 'tool'] as const) : (['all'] as const)) {
        for (const [timeMs, byName] of this.#counts[kind]) {
          const bucketMs = bucketOf(buckets, timeMs);
          if (bucketMs < oldestMs) continue;
          for (const [name, counts] of byName) {
            const key = `${buckets.span} ${kind} ${bucketMs} ${name}`;
            const row = rows.get(key);
            if (row) addCounts(row.counts, counts);
            else
              rows.set(key, { span: buckets.span, kind, bucket_ms: bucketMs, name, counts: { ...counts } });
          }
        }
      }
    }
    const changed = [...rows].filter(([, { counts }]) => Object.values(counts).some((count) => count !== 0));
    return changed.sort(([left], [right]) => (left < right ? -1 : 1)).map(([, row]) => row);
  }

  /** Returns the counts of a bucket, to be added to. */
  #sumOf(kind: ActivityKind, bucketMs: number, name: string): Partial<ActivityCounts> {
    let byName = this.#counts[kind].get(bucketMs);
    if (!byName) {
      byName = new Map();
      this.#counts[kind].set(bucketMs, byName);
    }
    let sum = byName.get(name);
    if (!sum) {
      sum = {};
      byName.set(name, sum);
    }
    return sum;
  }
}

/** Adds counts to a sum. */
export function addCounts(sum: Partial<ActivityCounts>, counts: Partial<ActivityCounts>): void {
  for (const [column, count] of Object.entries(counts) as [keyof ActivityCounts, number][]) {
    sum[column] = (sum[column] ?? 0) + count;
  }
}

function countsOf({ level }: CountedSession, count: 1 | -1): Partial<ActivityCounts> {
  return { sessions: count, ...(level !== null && { [`sessions_${level}`]: count }) };
}
