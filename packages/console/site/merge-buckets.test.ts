import type { ActivityBucket } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { mergeBuckets } from './parts/overview/activity-charts.tsx';

function bucket(at: string, count: number): ActivityBucket {
  return {
    at,
    events: count,
    calls: count,
    errors: 0,
    denials: count,
    sessions: 1,
    sessionsByLevel: { low: count, medium: 0, high: 1, critical: 0 },
    heldActions: 0,
    decisions: { allow: 0, deny: count, require_approval: 0 },
  };
}

test('adds up the counts of consecutive buckets, and keeps the time of the first', () => {
  const merged = mergeBuckets([bucket('a', 1), bucket('b', 2), bucket('c', 4)], 2);
  expect(merged.map(({ at, calls, denials }) => [at, calls, denials])).toEqual([
    ['a', 3, 3],
    ['c', 4, 4],
  ]);
  expect(merged[0]?.sessionsByLevel).toEqual({ low: 3, medium: 0, high: 2, critical: 0 });
  expect(merged[0]?.decisions.deny).toBe(3);
});

test('keeps buckets of their own', () => {
  const buckets = [bucket('a', 1), bucket('b', 2)];
  expect(mergeBuckets(buckets, 1)).toEqual(buckets);
});
