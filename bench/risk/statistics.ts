/** Returns a generator of numbers from 0 up to 1, the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** A scored item: `true` if it is positive, and its weight. */
export interface Scored {
  readonly score: number;
  readonly positive: boolean;
  /** Group that is drawn as a whole in a bootstrap. */
  readonly group: string;
}

function weightedAuc(sorted: readonly Scored[], weight: (item: Scored) => number): number {
  let negatives = 0;
  let positives = 0;
  let wins = 0;
  for (let at = 0; at < sorted.length; ) {
    let tiedPositives = 0;
    let tiedNegatives = 0;
    const value = sorted[at]?.score;
    for (; at < sorted.length && sorted[at]?.score === value; at++) {
      const item = sorted[at] as Scored;
      if (item.positive) tiedPositives += weight(item);
      else tiedNegatives += weight(item);
    }
    wins += tiedPositives * (negatives + tiedNegatives / 2);
    positives += tiedPositives;
    negatives += tiedNegatives;
  }
  return wins / (positives * negatives);
}

/** Returns the probability that a positive scores above a negative; ties count half. NaN if one side is empty. */
export function auc(items: readonly Scored[]): number {
  return weightedAuc(
    items.toSorted((a, b) => a.score - b.score),
    () => 1,
  );
}

/** Returns the interval that contains the AUC of 95 in 100 draws of groups with replacement. */
export function aucInterval(items: readonly Scored[], draws: number, seed: number): [number, number] {
  const random = seededRandom(seed);
  const sorted = items.toSorted((a, b) => a.score - b.score);
  const groups = [...new Set(items.map((item) => item.group))].sort();
  const values: number[] = [];
  for (let draw = 0; draw < draws; draw++) {
    const times = new Map<string, number>();
    for (let left = groups.length; left > 0; left--) {
      const group = groups[Math.floor(random() * groups.length)] as string;
      times.set(group, (times.get(group) ?? 0) + 1);
    }
    const value = weightedAuc(sorted, (item) => times.get(item.group) ?? 0);
    if (!Number.isNaN(value)) values.push(value);
  }
  return [quantile(values, 0.025), quantile(values, 0.975)];
}

/** Returns the mean; NaN for no values. */
export function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** Returns the smallest value that at least `share` of the values do not exceed; NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(share * sorted.length) - 1))] ?? Number.NaN;
}

/** Returns the share of positives above the score that at most `falsePositives` of the negatives exceed. */
export function truePositivesAt(items: readonly Scored[], falsePositives: number): number {
  const limit = quantile(
    items.filter((item) => !item.positive).map((item) => item.score),
    1 - falsePositives,
  );
  const positives = items.filter((item) => item.positive);
  return positives.filter((item) => item.score > limit).length / positives.length;
}
