import type { ActivitySpan } from './activity-schema.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;

/** Buckets of one length. */
export interface ActivityBuckets {
  readonly span: ActivitySpan;
  /** Length of a bucket in milliseconds. Buckets begin at its multiples, so days are those of UTC. */
  readonly lengthMs: number;
  /** Time for which a bucket is kept, in milliseconds. Older events and sessions are not counted in such buckets. */
  readonly keptMs: number;
  /** `true` if agents and tools are counted too. */
  readonly hasNames: boolean;
}

/** All lengths of buckets. Their ages bound the number of rows, whatever times events have. */
export const activityBuckets: readonly ActivityBuckets[] = [
  { span: '5m', lengthMs: 5 * minuteMs, keptMs: 2 * dayMs, hasNames: false },
  { span: 'hour', lengthMs: hourMs, keptMs: 32 * dayMs, hasNames: true },
  { span: 'day', lengthMs: dayMs, keptMs: 400 * dayMs, hasNames: true },
];

/** Returns the buckets of a span. */
export function bucketsOf(span: ActivitySpan): ActivityBuckets {
  return activityBuckets.find((buckets) => buckets.span === span) as ActivityBuckets;
}

/** Returns the start of the bucket that contains a time, in Unix milliseconds. */
export function bucketOf({ lengthMs }: ActivityBuckets, timeMs: number): number {
  return Math.floor(timeMs / lengthMs) * lengthMs;
}

/** Returns the start of the oldest bucket that is still counted, in Unix milliseconds. */
export function oldestBucket(buckets: ActivityBuckets, nowMs: number): number {
  return bucketOf(buckets, nowMs - buckets.keptMs);
}
