import { parseArgs } from 'node:util';
import { score } from '@actlog/risk';
import { measureCost } from './risk/cost.ts';
import { crossValidate, fittedWarmup, fittedWeights } from './risk/cross-validation.ts';
import { type Judgement, judge, type Verdict } from './risk/judgement.ts';
import { classOf, readRuns } from './risk/labelled-run.ts';
import { Replayer } from './risk/replay.ts';

/** One-line description of this benchmark. */
export const description =
  'risk: separation of compromised and benign sessions by score (--data FILE [--history FILE] --warmup K [--folds])';

function row(name: string, judgement: Judgement): string {
  const interval = ([low, high]: [number, number]) => `${low.toFixed(3)}–${high.toFixed(3)}`;
  return [
    name.padEnd(28),
    judgement.aucT1.toFixed(3).padStart(6),
    interval(judgement.ciT1).padStart(12),
    judgement.barT1.toFixed(3).padStart(6),
    judgement.aucT2.toFixed(3).padStart(7),
    interval(judgement.ciT2).padStart(12),
    judgement.barT2.toFixed(3).padStart(6),
    judgement.tprAt5Fpr.toFixed(3).padStart(8),
    judgement.benignHighShare.toFixed(3).padStart(8),
  ].join(' ');
}

function weightTable(weights: Record<string, number>): string {
  return Object.entries(weights)
    .map(([id, weight]) => `${id.padEnd(34)} ${weight.toFixed(3)}`)
    .join('\n');
}

const HEADER =
  'sessions                         T1     95 % CI    bar      T2     95 % CI    bar  TPR@5%  benign≥high';

/** Runs the benchmark. Throws if `--data` is missing or a file cannot be read. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string' },
      history: { type: 'string' },
      warmup: { type: 'string', default: '0' },
      draws: { type: 'string', default: '500' },
      folds: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.data === undefined)
    throw new Error('--data FILE is missing: a file of labelled runs, one JSON object a line');
  const warmup = Number(values.warmup);
  const draws = Number(values.draws);
  if (!Number.isInteger(warmup) || warmup < 0)
    throw new Error(`--warmup ${values.warmup} is not a whole number from 0`);
  const runs = readRuns(values.data).filter((run) => classOf(run) !== undefined);
  const history = values.history === undefined ? runs : readRuns(values.history);
  const replayed = new Replayer(history, warmup).replayAll(runs);
  const verdicts = replayed.map(({ run, state, baseline }): Verdict => {
    const risk = score(state, { baseline });
    return { run, score: risk.score, high: risk.level === 'high' || risk.level === 'critical' };
  });
  const total = judge(verdicts, draws);
  const suites = Object.fromEntries(
    [...new Set(runs.map((run) => run.suite))].sort().map((suite) => [
      suite,
      judge(
        verdicts.filter(({ run }) => run.suite === suite),
        draws,
      ),
    ]),
  );
  const cost = measureCost(warmup);
  const fitted = values.folds ? new Replayer(history, fittedWarmup).replayAll(runs) : undefined;
  const folds = fitted && crossValidate(fitted, replayed, draws);
  const weights = fitted && fittedWeights(fitted);
  if (!values.json) {
    console.log(`${values.data}, ${warmup} sessions of past\n\n${HEADER}\n${row('all', total)}`);
    for (const [suite, judgement] of Object.entries(suites)) console.log(row(`suite ${suite}`, judgement));
    for (const [fold, judgement] of Object.entries(folds ?? {})) console.log(row(fold, judgement));
    if (weights !== undefined) console.log(`\nweights fitted on all sessions\n${weightTable(weights)}`);
    console.log(
      `\n${cost.microsPerEvent} µs an event, ${cost.microsPerScore} µs a score (${cost.microsPerScoreFullPast} µs after sixteen sessions), ${cost.stateBytes} bytes of state, at a million events`,
    );
  }
  return { warmup, ...total, ...cost, suites, ...(folds === undefined ? {} : { folds, weights }) };
}
