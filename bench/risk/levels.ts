import { levels } from '@actlog/risk';
import { isHigh, type Verdict } from './judgment.ts';
import { classOf } from './labeled-run.ts';

/** Shares of sessions that reach a level. */
export interface LevelShares {
  readonly sessions: number;
  readonly medium: number;
  readonly high: number;
  readonly critical: number;
}

/** Sessions by level: compromised ones, and each kind of benign work on its own. */
export interface LevelFigures {
  readonly attacked: LevelShares;
  /** By suite. */
  readonly benign: Readonly<Record<string, LevelShares>>;
  /** Probability that a session in a band of scores is compromised, if one in 100 and one in 1,000 sessions is. */
  readonly bands: Readonly<Record<string, { readonly per100: number; readonly per1000: number }>>;
}

function round(value: number): number {
  return Math.round(value * 1e4) / 1e4;
}

function sharesOf(verdicts: readonly Verdict[]): LevelShares {
  const share = (test: (verdict: Verdict) => boolean) =>
    round(verdicts.filter(test).length / verdicts.length);
  return {
    sessions: verdicts.length,
    medium: share(({ level }) => level !== 'low'),
    high: share(isHigh),
    critical: share(({ level }) => level === 'critical'),
  };
}

/** Adds half a session to each side, so that an empty band is not certain. */
function probability(attacked: number, attackedAll: number, benign: number, benignAll: number, rate: number) {
  const ofAttacked = ((attacked + 0.5) / (attackedAll + 1)) * rate;
  const ofBenign = ((benign + 0.5) / (benignAll + 1)) * (1 - rate);
  return round(ofAttacked / (ofAttacked + ofBenign));
}

/** Groups sessions by the public levels. */
export function levelFigures(verdicts: readonly Verdict[]): LevelFigures {
  const attacked = verdicts.filter(({ run }) => classOf(run) === 'attacked');
  const benign = verdicts.filter(({ run }) => classOf(run) === 'benign');
  const bands = [
    [`below ${levels.medium}`, 0, levels.medium],
    [`${levels.medium} to ${levels.high}`, levels.medium, levels.high],
    [`${levels.high} to ${levels.critical}`, levels.high, levels.critical],
    [`from ${levels.critical}`, levels.critical, 101],
  ] as const;
  return {
    attacked: sharesOf(attacked),
    benign: Object.fromEntries(
      [...Map.groupBy(benign, ({ run }) => run.suite)]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([suite, of]) => [suite, sharesOf(of)]),
    ),
    bands: Object.fromEntries(
      bands.map(([name, from, to]) => {
        const inBand = (of: readonly Verdict[]) =>
          of.filter(({ score }) => score >= from && score < to).length;
        const counts = [inBand(attacked), attacked.length, inBand(benign), benign.length] as const;
        return [name, { per100: probability(...counts, 0.01), per1000: probability(...counts, 0.001) }];
      }),
    ),
  };
}
