/** Results of two measured sides. */
export interface Measured {
  /** Median of the baseline. */
  readonly bare: number;
  /** Median of ours. */
  readonly ours: number;
  /** Median, over the rounds, of ours divided by the baseline of the same round. */
  readonly ratio: number;
}

/** Returns the median, which is steadier than the mean on a shared machine. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/**
 * Measures two things interleaved, so that other load affects both alike; the order alternates with every round. The
 * first round is a warm-up and does not count.
 */
export async function interleave(
  rounds: number,
  bare: () => Promise<number>,
  ours: () => Promise<number>,
): Promise<Measured> {
  const pairs: { bare: number; ours: number }[] = [];
  for (let round = 0; round <= rounds; round += 1) {
    let left: number;
    let right: number;
    if (round % 2 === 0) {
      left = await bare();
      right = await ours();
    } else {
      right = await ours();
      left = await bare();
    }
    if (round > 0) pairs.push({ bare: left, ours: right });
  }
  const round = (value: number) => Number(value.toPrecision(4));
  return {
    bare: round(median(pairs.map((pair) => pair.bare))),
    ours: round(median(pairs.map((pair) => pair.ours))),
    ratio: round(median(pairs.map((pair) => pair.ours / pair.bare))),
  };
}
