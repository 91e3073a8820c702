import { Bar } from '../bar.tsx';

/**
 * Rounds a score down. Rounded up it could seem to reach the next level, and a filter for the shown value
 * would not find
 * it.
 */
export function wholeScore(score: number): number {
  return Math.floor(score);
}

/** Score from 0 to 100 with its level; a text if nothing was scored. */
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
