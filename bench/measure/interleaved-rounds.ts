/** Two measured sides and how they compare. */
export interface Measured {
  /** Median of the baseline. */
  readonly bare: number;
  /** Median of ours. */
  readonly ours: number;
  /** Median, over the rounds, of ours divided by the baseline of the same round. */
  readonly ratio: number;
}

/** The middle value; steadier than the mean on a machine that others use too. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? upper)) / 2;
}

/**
 * Measures two things in turns, so that whatever else the machine does falls on both alike; who goes first changes
 * with every round. The first round warms up and does not count.
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
