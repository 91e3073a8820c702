import { emptyBaseline, findings, RULES, viewOf } from '@actlog/risk';
import { type Judgement, judge, type Verdict } from './judgement.ts';
import { classOf, familyOf } from './labelled-run.ts';
import type { Replayed } from './replay.ts';
import { quantile } from './statistics.ts';
import { type Example, fitWeights } from './weights.ts';

/** Share of the fitted sessions' benign scores that lie below the limit of `high`, as in the engine's `levels.ts`. */
const HIGH_QUANTILE = { cold: 0.99, warm: 0.98 } as const;

/** A session to fit on or to judge, with what it would match without its past. */
interface Sample extends Example {
  readonly coldRow: readonly number[];
  readonly pastKnown: boolean;
}

/** Strength of each rule's match in a session, by the order of `RULES`. */
function strengths({ state, baseline }: Replayed): number[] {
  const row = new Array<number>(RULES.length).fill(0);
  for (const { rule, strength } of findings(viewOf(state, baseline))) row[RULES.indexOf(rule)] = strength;
  return row;
}

function sampleOf(replayed: Replayed): Sample {
  const pastKnown = replayed.baseline.sessions.size > 0;
  const row = strengths(replayed);
  const coldRow = pastKnown ? strengths({ ...replayed, baseline: emptyBaseline() }) : row;
  return { run: replayed.run, row, coldRow, pastKnown };
}

function evaluate(train: readonly Sample[], test: readonly Sample[], draws: number): Judgement {
  const weights = fitWeights(train);
  const sum = (row: readonly number[]) =>
    row.reduce((total, value, at) => total + value * (weights[at] ?? 0), 0);
  const benign = train.filter(({ run }) => classOf(run) === 'benign');
  const cold = quantile(
    benign.map(({ coldRow }) => sum(coldRow)),
    HIGH_QUANTILE.cold,
  );
  const known = benign.filter(({ pastKnown }) => pastKnown).map(({ row }) => sum(row));
  const warm = known.length === 0 ? cold : Math.max(cold, quantile(known, HIGH_QUANTILE.warm));
  const verdicts = test.map(({ run, row, pastKnown }): Verdict => {
    const score = sum(row);
    return { run, score, high: score > (pastKnown ? warm : cold) };
  });
  return judge(verdicts, draws);
}

/** Weight of each rule that matched, as fitted on all sessions: what a match at full strength scores alone, 0 to 1. */
export function fittedWeights(replayed: readonly Replayed[]): Record<string, number> {
  const weights = fitWeights(replayed.map((one): Example => ({ run: one.run, row: strengths(one) })));
  return Object.fromEntries(
    RULES.flatMap(({ id }, at) => {
      const weight = 1 - Math.exp(-(weights[at] as number));
      return weight < 0.005 ? [] : [[id, Math.round(weight * 1e4) / 1e4]];
    }),
  );
}

/**
 * Fits the rules' weights without one suite, or without one family of models, and judges them on what was left out;
 * for every suite and family. Limits of levels are taken from the sessions that were fitted, too.
 */
export function crossValidate(replayed: readonly Replayed[], draws: number): Record<string, Judgement> {
  const samples = replayed.map(sampleOf);
  const folds: Record<string, Judgement> = {};
  const parts = [
    ['suite', (one: Sample) => one.run.suite],
    ['family', (one: Sample) => familyOf(one.run.model)],
  ] as const;
  for (const [name, keyOf] of parts) {
    for (const key of [...new Set(samples.map(keyOf))].sort()) {
      const test = samples.filter((one) => keyOf(one) === key);
      folds[`without ${name} ${key}`] = evaluate(
        samples.filter((one) => keyOf(one) !== key),
        test,
        draws,
      );
    }
  }
  return folds;
}
