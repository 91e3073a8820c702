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
    this.#addTo('all', bucketOf(shortest, timeMs), '', counts);
  }

  /** Adds to the counts of an agent or a tool at a time. */
  addNamed(kind: 'agent' | 'tool', name: string, timeMs: number, counts: Partial<ActivityCounts>): void {
    this.#addTo(kind, bucketOf(shortestNamed, timeMs), name, counts);
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

  #addTo(kind: ActivityKind, bucketMs: number, name: string, counts: Partial<ActivityCounts>): void {
    let byName = this.#counts[kind].get(bucketMs);
    if (!byName) {
      byName = new Map();
      this.#counts[kind].set(bucketMs, byName);
    }
    const sum = byName.get(name);
    if (sum) addCounts(sum, counts);
    else byName.set(name, { ...counts });
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
