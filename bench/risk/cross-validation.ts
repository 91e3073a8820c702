import { allRules, emptyBaseline, findings, viewOf } from '@actlog/risk';
import { type Judgment, judge, type Verdict } from './judgment.ts';
import { classOf, familyOf, type LabeledRun } from './labeled-run.ts';
import type { Replayed } from './replay.ts';
import { mean, quantile } from './statistics.ts';
import { type Example, fitWeights, type Strengths } from './weights.ts';

/**
 * Number of past sessions of the runs that weights are fitted on, as for the engine's own weights. The engine has one set
 * of weights, regardless of an agent's history.
 */
export const fittedWarmup = 3;

/**
 * Mean to which fitted weights are scaled, as evidence: about the mean of the weights set by hand. It does not change the
 * order of sessions, only the spread of scores from 0 to 100.
 */
const MEAN_EVIDENCE = 0.33;

/** Share of the fitted benign sessions that lie below the limit of `high`. */
const benignShare = 0.99;

/** Limit of the evidence of circumstances, in the fitted scale, and how much what is beyond it counts; as in the engine. */
const circumstancesLimit = { cold: 1.6 / 0.68, warm: 2.4 / 0.68, beyond: 0.25 };

/** A session to fit on. */
interface Sample extends Example {
  readonly pastKnown: boolean;
}

function strengths({ state, baseline }: Replayed): Strengths {
  const row = new Array<number>(allRules.length).fill(0);
  for (const { rule, strength } of findings(viewOf(state, baseline))) row[allRules.indexOf(rule)] = strength;
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
  readonly run: LabeledRun;
  readonly row: Strengths;
  readonly pastKnown: boolean;
}

function evaluate(train: readonly Sample[], test: readonly Judged[], draws: number): Judgment {
  const weights = fitWeights(train);
  const sum = (row: Strengths, isKnown: boolean) => {
    let strong = 0;
    let circumstances = 0;
    for (const [at, value] of row.entries()) {
      const evidence = value * (weights[at] ?? 0);
      if (allRules[at]?.circumstantial) circumstances += evidence;
      else strong += evidence;
    }
    const limit = isKnown ? circumstancesLimit.warm : circumstancesLimit.cold;
    return (
      strong + Math.min(circumstances, limit) + circumstancesLimit.beyond * Math.max(0, circumstances - limit)
    );
  };
  const benign = train.filter(({ run }) => classOf(run) === 'benign');
  const cold = benign.map(({ coldRow }) => sum(coldRow, false));
  const warm = benign.filter(({ pastKnown }) => pastKnown).map(({ row }) => sum(row, true));
  const high = Math.max(quantile(cold, benignShare), warm.length === 0 ? 0 : quantile(warm, benignShare));
  const verdicts = test.map(({ run, row, pastKnown }): Verdict => {
    const score = sum(row, pastKnown);
    return { run, score, level: score > high ? 'high' : 'low' };
  });
  return judge(verdicts, draws);
}

/**
 * Returns the score of each rule's match alone at full strength, 0 to 1, fitted on all sessions; for rules that match in
 * at least one session in a hundred.
 */
export function fittedWeights(replayed: readonly Replayed[]): Record<string, number> {
  const samples = replayed.map(sampleOf);
  const evidence = fitWeights(samples);
  const shown = allRules.map((_, at) => samples.filter(({ row }) => (row[at] as number) > 0).length);
  const scale = MEAN_EVIDENCE / mean(evidence.filter((_, at) => shown[at] !== 0));
  return Object.fromEntries(
    allRules.flatMap(({ id }, at) => {
      if ((shown[at] as number) < samples.length / 100) return [];
      const weight = 1 - Math.exp(-scale * (evidence[at] as number));
      return [[id, Math.round(weight * 1e4) / 1e4]];
    }),
  );
}

/** Data left out of the fit: a suite, a family of models, or both. */
interface LeftOut {
  readonly suite?: string;
  readonly family?: string;
}

/** Minimum number of attacks to judge a suite and a family together. */
const fewestAttacks = 30;

function leftOuts(judged: readonly Judged[]): LeftOut[] {
  const suites = [...new Set(judged.map(({ run }) => run.suite))].sort();
  const families = [...new Set(judged.map(({ run }) => familyOf(run.model)))].sort();
  const both = suites.flatMap((suite) => families.map((family) => ({ suite, family })));
  const attacksOf = (part: LeftOut) =>
    judged.filter(({ run }) => isOf(run, part) && classOf(run) === 'attacked').length;
  return [
    ...suites.map((suite) => ({ suite })),
    ...families.map((family) => ({ family })),
    ...both.filter((part) => attacksOf(part) >= fewestAttacks),
  ];
}

function isOf(run: LabeledRun, { suite = run.suite, family = familyOf(run.model) }: LeftOut): boolean {
  return run.suite === suite && familyOf(run.model) === family;
}

/** `true` if a run belongs to neither the suite nor the family. */
function isApartFrom(run: LabeledRun, { suite, family }: LeftOut): boolean {
  return run.suite !== suite && familyOf(run.model) !== family;
}

/**
 * Fits the rules' weights without one suite, without one family of models, or without both, and judges them on the
 * omitted data; for every suite and family. The limit of `high` also comes from the fitted sessions.
 *
 * @param fitted - all sessions, replayed with a history of `fittedWarmup` sessions
 * @param judged - the same, as they are to be judged
 */
export function crossValidate(
  fitted: readonly Replayed[],
  judged: readonly Replayed[],
  draws: number,
): Record<string, Judgment> {
  const samples = fitted.map(sampleOf);
  const tests = judged.map(
    (one): Judged => ({
      run: one.run,
      row: strengths(one),
      pastKnown: one.baseline.sessions.size > 0,
    }),
  );
  return Object.fromEntries(
    leftOuts(tests).map((part) => {
      const train = samples.filter(({ run }) => isApartFrom(run, part));
      const test = tests.filter(({ run }) => isOf(run, part));
      return [nameOf(part), evaluate(train, test, draws)];
    }),
  );
}

function nameOf({ suite, family }: LeftOut): string {
  if (suite === undefined) return `without family ${family}`;
  return family === undefined ? `without suite ${suite}` : `without ${suite} and ${family}`;
}
