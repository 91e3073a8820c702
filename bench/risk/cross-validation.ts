import { emptyBaseline, findings, RULES, viewOf } from '@actlog/risk';
import { type Judgement, judge, type Verdict } from './judgement.ts';
import { classOf, familyOf, type LabelledRun } from './labelled-run.ts';
import type { Replayed } from './replay.ts';
import { quantile } from './statistics.ts';
import { type Example, fitWeights, type Strengths } from './weights.ts';

/**
 * Sessions of past that those have which weights are fitted on, as the engine's were: it has one set of weights,
 * whatever it knows of a session's past.
 */
export const fittedWarmup = 3;

/**
 * What fitted weights are scaled to, as evidence: about the mean of those that are set by hand. It changes no order of
 * sessions, only how scores spread from 0 to 100.
 */
const MEAN_EVIDENCE = 0.33;

/**
 * Share of the benign sessions with a known past that lie below the limit of `high`, as in the engine's `levels.ts`. Of
 * those without one all do.
 */
const WARM_QUANTILE = 0.98;

/** A session to fit on. */
interface Sample extends Example {
  readonly pastKnown: boolean;
}

function strengths({ state, baseline }: Replayed): Strengths {
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

/** A session to judge. */
interface Judged {
  readonly run: LabelledRun;
  readonly row: Strengths;
}

function evaluate(train: readonly Sample[], test: readonly Judged[], draws: number): Judgement {
  const weights = fitWeights(train);
  const sum = (row: Strengths) => row.reduce((total, value, at) => total + value * (weights[at] ?? 0), 0);
  const benign = train.filter(({ run }) => classOf(run) === 'benign');
  const cold = Math.max(...benign.map(({ coldRow }) => sum(coldRow)));
  const warm = benign.filter(({ pastKnown }) => pastKnown).map(({ row }) => sum(row));
  const high = warm.length === 0 ? cold : Math.max(cold, quantile(warm, WARM_QUANTILE));
  const verdicts = test.map(({ run, row }): Verdict => {
    const score = sum(row);
    return { run, score, high: score > high };
  });
  return judge(verdicts, draws);
}

/**
 * What a match of each rule at full strength scores alone, 0 to 1, fitted on all sessions; of the rules that at least
 * one session in a hundred shows.
 */
export function fittedWeights(replayed: readonly Replayed[]): Record<string, number> {
  const samples = replayed.map(sampleOf);
  const evidence = fitWeights(samples);
  const shown = RULES.map((_, at) => samples.filter(({ row }) => (row[at] as number) > 0).length);
  const scale = MEAN_EVIDENCE / mean(evidence.filter((_, at) => shown[at] !== 0));
  return Object.fromEntries(
    RULES.flatMap(({ id }, at) => {
      if ((shown[at] as number) < samples.length / 100) return [];
      const weight = 1 - Math.exp(-scale * (evidence[at] as number));
      return [[id, Math.round(weight * 1e4) / 1e4]];
    }),
  );
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Fits the rules' weights without one suite, or without one family of models, and judges them on what was left out;
 * for every suite and family. The limit of `high` is taken from the sessions that were fitted, too.
 *
 * @param fitted - all sessions, replayed with a past of `fittedWarmup`
 * @param judged - the same, as they are to be judged
 */
export function crossValidate(
  fitted: readonly Replayed[],
  judged: readonly Replayed[],
  draws: number,
): Record<string, Judgement> {
  const samples = fitted.map(sampleOf);
  const tests = judged.map((one): Judged => ({ run: one.run, row: strengths(one) }));
  const folds: Record<string, Judgement> = {};
  const parts = [
    ['suite', ({ run }: Judged) => run.suite],
    ['family', ({ run }: Judged) => familyOf(run.model)],
  ] as const;
  for (const [name, keyOf] of parts) {
    for (const key of [...new Set(samples.map(keyOf))].sort()) {
      folds[`without ${name} ${key}`] = evaluate(
        samples.filter((one) => keyOf(one) !== key),
        tests.filter((one) => keyOf(one) === key),
        draws,
      );
    }
  }
  return folds;
}
