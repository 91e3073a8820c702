import { classOf, type LabeledRun } from './labeled-run.ts';
import { mean } from './statistics.ts';

/** Strength of each rule's match in a session, 0 to 1, in the order of the rules. */
export type Strengths = readonly number[];

/** A session for the fit: its label, and the matched rules with and without its history. */
export interface Example {
  readonly run: LabeledRun;
  readonly row: Strengths;
  readonly coldRow: Strengths;
}

/** Weights of the classes, independent of their number of sessions. */
const CLASS_SHARES: Readonly<Record<string, number>> = { attacked: 0.5, benign: 0.25, resisted: 0.25 };

/**
 * Strength with which weights are pulled toward their mean, so that a rule that matches in few sessions gets about the mean
 * weight. Pulled toward 0 instead, it would not count in the next suite, whose sessions may match it often. From 0.005 to
 * 0.1, the AUCs of the folds change by about a hundredth.
 */
const PULL = 0.005;

/**
 * Minimum weight, as a share of the mean. Rules that match together share their evidence at random; each must still count
 * where it matches alone.
 */
const LEAST = 0.45;

const ROUNDS = 2000;
const STEP = 0.03;

/** Sessions of one class in which the same rules matched equally strongly: the rules, and their share of the sessions. */
interface Point {
  readonly matches: readonly (readonly [rule: number, strength: number])[];
  readonly isAttacked: boolean;
  share: number;
}

function pointsOf(examples: readonly Example[]): Point[] {
  const points = new Map<string, Point>();
  for (const [kind, members] of Map.groupBy(examples, ({ run }) => classOf(run))) {
    const share = CLASS_SHARES[kind ?? ''];
    if (share === undefined) continue;
    for (const row of members.flatMap(({ row, coldRow }) => [row, coldRow])) {
      const matches = row.flatMap((strength, rule) => (strength > 0 ? [[rule, strength] as const] : []));
      const key = `${kind} ${matches.join(' ')}`;
      const point = points.get(key) ?? { matches, isAttacked: kind === 'attacked', share: 0 };
      point.share += share / (2 * members.length);
      points.set(key, point);
    }
  }
  return [...points.values()];
}

/**
 * Fits evidence by rule: logistic regression of attacked against benign and resisted sessions, each once with its history
 * and once without. A rule that matches nowhere gets the mean of the others. Deterministic (Adam from zero).
 */
export function fitWeights(examples: readonly Example[]): number[] {
  const points = pointsOf(examples);
  const shown = [...new Set(points.flatMap(({ matches }) => matches.map(([rule]) => rule)))];
  const bias = examples[0]?.row.length ?? 0;
  const weights = new Array<number>(bias + 1).fill(0);
  const slopes = new Array<number>(bias + 1).fill(0);
  const variance = new Array<number>(bias + 1).fill(0);
  const commonWeight = () => (shown.length === 0 ? 0 : mean(shown.map((rule) => weights[rule] as number)));
  for (let round = 1; round <= ROUNDS; round++) {
    const common = commonWeight();
    const gradient = weights.map(() => 0);
    for (const rule of shown) gradient[rule] = PULL * ((weights[rule] as number) - common);
    for (const { matches, isAttacked, share } of points) {
      let sum = weights[bias] as number;
      for (const [rule, strength] of matches) sum += strength * (weights[rule] as number);
      const error = share * (1 / (1 + Math.exp(-sum)) - (isAttacked ? 1 : 0));
      for (const [rule, strength] of matches) gradient[rule] = (gradient[rule] as number) + error * strength;
      gradient[bias] = (gradient[bias] as number) + error;
    }
    for (const at of [...shown, bias]) {
      const slope = gradient[at] as number;
      slopes[at] = 0.9 * (slopes[at] as number) + 0.1 * slope;
      variance[at] = 0.999 * (variance[at] as number) + 0.001 * slope * slope;
      const step = (slopes[at] as number) / (1 - 0.9 ** round);
      const scale = Math.sqrt((variance[at] as number) / (1 - 0.999 ** round)) + 1e-8;
      const next = (weights[at] as number) - (STEP * step) / scale;
      weights[at] = at === bias ? next : Math.max(LEAST * common, next);
    }
  }
  const common = commonWeight();
  return weights.slice(0, bias).map((weight, rule) => (shown.includes(rule) ? weight : common));
}
