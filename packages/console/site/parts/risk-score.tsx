import { Bar } from './bar.tsx';

/**
 * The whole points that a score has reached. Rounded up it would seem to reach the limit of the next level, and not be
 * found by a filter for what is shown.
 */
export function wholeScore(score: number): number {
  return Math.floor(score);
}

/** A score from 0 to 100 with its level; a word where nothing was scored. */
export function RiskScore({ risk }: { risk: { score: number; level: string } | null | undefined }) {
  if (!risk) return <span class="faint">not scored</span>;
  const score = wholeScore(risk.score);
  return (
    <span class={`risk level-${risk.level}`}>
      <Bar score={risk.score} /> <span class="number">{score}</span>{' '}
      <span class="badge level">{risk.level}</span>
    </span>
  );
}
