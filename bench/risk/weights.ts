import { classOf, type LabelledRun } from './labelled-run.ts';

/** A session as the fit sees it: its label, and how strongly each rule matched. */
export interface Example {
  readonly run: LabelledRun;
  readonly row: readonly number[];
}

// Strong, so that weights stay near each other: with two suites to learn from, what sets them apart is mostly chance.
const RIDGE = 0.1;
const ROUNDS = 600;
const STEP = 0.03;

/**
 * Fits evidence by rule: logistic regression of attacked against benign and resisted sessions (the classes weigh one
 * half, one quarter, one quarter), with no negative weight and a ridge penalty. Deterministic (Adam from zero).
 */
export function fitWeights(examples: readonly Example[]): number[] {
  const used = examples.filter(({ run }) => ['attacked', 'benign', 'resisted'].includes(classOf(run) ?? ''));
  const counts = Map.groupBy(used, ({ run }) => classOf(run));
  const shares = used.map(({ run }) => {
    const kind = classOf(run);
    return (kind === 'attacked' ? 0.5 : 0.25) / (counts.get(kind)?.length ?? 1);
  });
  // Rows are sparse: most rules match in few sessions.
  const sparse = used.map(({ row }) => row.flatMap((value, at) => (value > 0 ? [[at, value] as const] : [])));
  const width = used[0]?.row.length ?? 0;
  const weights = new Array<number>(width + 1).fill(0);
  const mean = new Array<number>(width + 1).fill(0);
  const variance = new Array<number>(width + 1).fill(0);
  for (let round = 1; round <= ROUNDS; round++) {
    const gradient = weights.map((weight, at) => (at < width ? RIDGE * weight : 0));
    for (const [index, row] of sparse.entries()) {
      let sum = weights[width] as number;
      for (const [at, value] of row) sum += value * (weights[at] as number);
      const positive = classOf((used[index] as Example).run) === 'attacked' ? 1 : 0;
      const error = (shares[index] as number) * (1 / (1 + Math.exp(-sum)) - positive);
      for (const [at, value] of row) gradient[at] = (gradient[at] as number) + error * value;
      gradient[width] = (gradient[width] as number) + error;
    }
    for (const [at, slope] of gradient.entries()) {
      mean[at] = 0.9 * (mean[at] as number) + 0.1 * slope;
      variance[at] = 0.999 * (variance[at] as number) + 0.001 * slope * slope;
      const step = (mean[at] as number) / (1 - 0.9 ** round);
      const scale = Math.sqrt((variance[at] as number) / (1 - 0.999 ** round)) + 1e-8;
      const next = (weights[at] as number) - (STEP * step) / scale;
      weights[at] = at < width ? Math.max(0, next) : next;
    }
  }
  return weights.slice(0, width);
}
