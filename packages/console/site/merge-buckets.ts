import type { ActivityBucket } from '@actlog/protocol';

type Numbers = Readonly<Record<string, number>>;

function sumOf<Counts extends object>(left: Counts, right: Counts): Counts {
  const other = right as Numbers;
  return Object.fromEntries(
    Object.entries(left as Numbers).map(([name, count]) => [name, count + (other[name] ?? 0)]),
  ) as Counts;
}

/** Merges each `size` consecutive buckets into one; the last may have fewer. */
export function mergeBuckets(buckets: readonly ActivityBucket[], size: number): ActivityBucket[] {
  const merged: ActivityBucket[] = [];
  for (const [index, bucket] of buckets.entries()) {
    const last = merged.at(-1);
    if (last === undefined || index % size === 0) {
      merged.push(bucket);
      continue;
    }
    const { at, sessionsByLevel, decisions, ...counts } = last;
    const { at: _, sessionsByLevel: levels, decisions: others, ...more } = bucket;
    merged[merged.length - 1] = {
      at,
      ...sumOf(counts, more),
      sessionsByLevel: sumOf(sessionsByLevel, levels),
      decisions: sumOf(decisions, others),
    };
  }
  return merged;
}
