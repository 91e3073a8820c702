import { findings, RULES, viewOf } from '@actlog/risk';
import { type Judgement, judge, type Verdict } from './judgement.ts';
import { classOf, familyOf } from './labelled-run.ts';
import type { Replayed } from './replay.ts';
import { quantile } from './statistics.ts';
import { type Example, fitWeights } from './weights.ts';

/** Share of the fitted sessions' benign scores that lie below the limit of `high`. */
const HIGH_QUANTILE = 0.975;

/** Strength of each rule's match in a session, by the order of `RULES`. */
export function strengths({ state, baseline }: Replayed): number[] {
  const row = new Array<number>(RULES.length).fill(0);
  for (const { rule, strength } of findings(viewOf(state, baseline))) row[RULES.indexOf(rule)] = strength;
  return row;
}

function evaluate(train: readonly Example[], test: readonly Example[], draws: number): Judgement {
  const weights = fitWeights(train);
  const sum = (row: readonly number[]) =>
    row.reduce((total, value, at) => total + value * (weights[at] ?? 0), 0);
  const limit = quantile(
    train.filter(({ run }) => classOf(run) === 'benign').map(({ row }) => sum(row)),
    HIGH_QUANTILE,
  );
  const verdicts = test.map(({ run, row }): Verdict => {
    const score = sum(row);
    return { run, score, high: score > limit };
  });
  return judge(verdicts, draws);
}

/**
 * Fits the rules' weights without one suite, or without one family of models, and judges them on what was left out;
 * for every suite and family. Limits of levels are taken from the sessions that were fitted, too.
 */
export function crossValidate(replayed: readonly Replayed[], draws: number): Record<string, Judgement> {
  const examples = replayed.map((one): Example => ({ run: one.run, row: strengths(one) }));
  const folds: Record<string, Judgement> = {};
  const parts = [
    ['suite', (one: Example) => one.run.suite],
    ['family', (one: Example) => familyOf(one.run.model)],
  ] as const;
  for (const [name, keyOf] of parts) {
    for (const key of [...new Set(examples.map(keyOf))].sort()) {
      const test = examples.filter((one) => keyOf(one) === key);
      folds[`without ${name} ${key}`] = evaluate(
        examples.filter((one) => keyOf(one) !== key),
        test,
        draws,
      );
    }
  }
  return folds;
}
