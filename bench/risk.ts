import { parseArgs } from 'node:util';
import { score } from '@actlog/risk';
import { adaptiveFigures } from './risk/adaptive.ts';
import { measureCost } from './risk/cost.ts';
import { crossValidate, fittedWarmup, fittedWeights } from './risk/cross-validation.ts';
import { anyTextCondition, type GuardFigures, guardFigures, originsCondition } from './risk/guard-figures.ts';
import { type Judgment, judge, type Verdict } from './risk/judgment.ts';
import { classOf, familyOf, hasContent, type LabeledRun, readRuns } from './risk/labeled-run.ts';
import { type LevelFigures, levelFigures } from './risk/levels.ts';
import { type Replayed, Replayer } from './risk/replay.ts';
import {
  type LearnedFigures,
  learnedFigures,
  type PaddingFigures,
  paddingFigures,
} from './risk/resilience.ts';

/** One-line description of this benchmark. */
export const description =
  'risk: separation of compromised and benign sessions by score (--data FILE [--data FILE] [--history FILE] --warmup K [--folds] [--adaptive])';

function row(name: string, judgment: Judgment): string {
  const interval = ([low, high]: [number, number]) => `${low.toFixed(3)}–${high.toFixed(3)}`;
  return [
    name.padEnd(34),
    judgment.aucT1.toFixed(3).padStart(6),
    interval(judgment.ciT1).padStart(12),
    judgment.barT1.toFixed(3).padStart(6),
    judgment.aucT2.toFixed(3).padStart(7),
    interval(judgment.ciT2).padStart(12),
    judgment.barT2.toFixed(3).padStart(6),
    judgment.tprAt5Fpr.toFixed(3).padStart(8),
    judgment.benignHighShare.toFixed(3).padStart(11),
    judgment.attackedHighShare.toFixed(3).padStart(12),
  ].join(' ');
}

function weightTable(weights: Record<string, number>): string {
  return Object.entries(weights)
    .map(([id, weight]) => `${id.padEnd(34)} ${weight.toFixed(3)}`)
    .join('\n');
}

const HEADER =
  'sessions                               T1     95 % CI    bar      T2     95 % CI    bar   TPR@5% benign≥high attack≥high';

/** Figures of one way to record the runs: with the origins of arguments or without. */
interface Figures extends Judgment {
  readonly suites: Readonly<Record<string, Judgment>>;
  readonly families: Readonly<Record<string, Judgment>>;
  readonly folds?: Readonly<Record<string, Judgment>>;
  readonly weights?: Readonly<Record<string, number>>;
  readonly levels: LevelFigures;
  readonly padding: PaddingFigures;
  readonly learned: LearnedFigures;
}

function verdictOf({ run, state, baseline }: Replayed): Verdict {
  const risk = score(state, { baseline });
  return { run, score: risk.score, level: risk.level };
}

function judgeBy(
  verdicts: readonly Verdict[],
  draws: number,
  groupOf: (run: LabeledRun) => string,
): Record<string, Judgment> {
  const groups = Map.groupBy(verdicts, ({ run }) => groupOf(run));
  return Object.fromEntries(
    [...groups.keys()].sort().map((name) => [name, judge(groups.get(name) as Verdict[], draws)]),
  );
}

/** Options that all measurements share. */
interface Setup {
  readonly runs: readonly LabeledRun[];
  readonly history: readonly LabeledRun[];
  readonly warmup: number;
  readonly draws: number;
  readonly folds: boolean;
}

function measure({ runs, history, warmup, draws, folds }: Setup, withOrigins: boolean): Figures {
  const replayed = new Replayer(history, warmup, withOrigins).replayAll(runs);
  const verdicts = replayed.map(verdictOf);
  const fitted = folds ? new Replayer(history, fittedWarmup, withOrigins).replayAll(runs) : undefined;
  return {
    ...judge(verdicts, draws),
    suites: judgeBy(verdicts, draws, (run) => run.suite),
    families: judgeBy(verdicts, draws, (run) => familyOf(run.model)),
    levels: levelFigures(verdicts),
    padding: paddingFigures(replayed, withOrigins),
    learned: learnedFigures(replayed),
    ...(fitted && {
      folds: crossValidate(fitted, replayed, draws),
      weights: fittedWeights(fitted),
    }),
  };
}

function print(title: string, figures: Figures): void {
  console.log(`\n${title}\n${HEADER}\n${row('all', figures)}`);
  for (const [suite, judgment] of Object.entries(figures.suites))
    console.log(row(`suite ${suite}`, judgment));
  for (const [family, judgment] of Object.entries(figures.families))
    console.log(row(`family ${family}`, judgment));
  for (const [fold, judgment] of Object.entries(figures.folds ?? {})) console.log(row(fold, judgment));
  const { levels, padding, learned } = figures;
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  console.log('\nsessions at a level or above');
  for (const [name, shares] of [['compromised', levels.attacked] as const, ...Object.entries(levels.benign)])
    console.log(
      `${(name === 'compromised' ? name : `benign ${name}`).padEnd(34)} ${String(shares.sessions).padStart(6)}  medium ${percent(shares.medium)}  high ${percent(shares.high)}  critical ${percent(shares.critical)}`,
    );
  for (const [band, { per100, per1000 }] of Object.entries(levels.bands))
    console.log(
      `P(compromised) ${band.padEnd(18)} ${percent(per100)} at 1 in 100, ${percent(per1000)} at 1 in 1,000`,
    );
  console.log(
    `padding: ${padding.lowered} of ${padding.runs} scores fell; at high ${percent(padding.bareHigh)} bare, ${percent(padding.paddedHigh)} padded`,
  );
  for (const [count, one] of Object.entries(learned))
    console.log(
      `after ${count} attacks offered to the history: ${percent(one.learned)} of them learned, ${percent(one.high)} of the next at high`,
    );
  if (figures.weights !== undefined)
    console.log(`\nweights fitted on all sessions\n${weightTable(figures.weights)}`);
}

function printGuard(condition: string, guard: GuardFigures): void {
  const percent = (share: number) => `${(100 * share).toFixed(1)} %`;
  console.log(
    `\na policy on origins:\n${condition}\nstops ${percent(guard.stopped)} of the successful attacks before an action of theirs, and asks about ${percent(guard.asked)} of the actions in benign runs`,
  );
}

/** Runs the benchmark. Throws if `--data` is missing or a file cannot be read. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const { values } = parseArgs({
    args,
    options: {
      data: { type: 'string', multiple: true },
      history: { type: 'string', multiple: true },
      warmup: { type: 'string', default: '0' },
      draws: { type: 'string', default: '500' },
      folds: { type: 'boolean', default: false },
      adaptive: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  });
  if (values.data === undefined)
    throw new Error('--data FILE is missing: a file of labeled runs, one JSON object a line');
  const warmup = Number(values.warmup);
  const draws = Number(values.draws);
  if (!Number.isInteger(warmup) || warmup < 0)
    throw new Error(`--warmup ${values.warmup} is not a whole number from 0`);
  const runs = values.data.flatMap(readRuns).filter((run) => classOf(run) !== undefined);
  const history = values.history === undefined ? runs : values.history.flatMap(readRuns);
  const setup: Setup = { runs, history, warmup, draws, folds: values.folds };
  const withoutOrigins = measure(setup, false);
  const withOrigins = runs.some(hasContent) ? measure(setup, true) : undefined;
  const guard = withOrigins && {
    ...guardFigures(runs, originsCondition),
    anyText: guardFigures(runs, anyTextCondition),
  };
  const adaptive = withOrigins && values.adaptive ? adaptiveFigures(runs) : undefined;
  const cost = measureCost(warmup);
  if (!values.json) {
    console.log(`${values.data.join(', ')}, ${warmup} sessions of past`);
    if (withOrigins !== undefined) print('with the origins of arguments', withOrigins);
    print(withOrigins === undefined ? 'metadata' : 'without', withoutOrigins);
    if (guard !== undefined) {
      printGuard(originsCondition, guard);
      printGuard(anyTextCondition, guard.anyText);
    }
    if (adaptive !== undefined) {
      console.log('\nattacks whose values are hidden in the texts, without a history');
      console.table(adaptive);
    }
    console.log(
      `\n${cost.microsPerEvent} µs an event, ${cost.microsPerScore} µs a score (${cost.microsPerScoreFullPast} µs after sixteen sessions), ${cost.stateBytes} bytes of state, at a million events`,
    );
  }
  return {
    warmup,
    ...(withOrigins ?? withoutOrigins),
    ...cost,
    ...(withOrigins && { withoutOrigins, guard }),
    ...(adaptive && { adaptive }),
  };
}
