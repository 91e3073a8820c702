import { wholeScore } from '@actlog/protocol';
import { Bar } from '../icon.tsx';

/** Score from 0 to 100 with its level; "not scored" without one. */
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
