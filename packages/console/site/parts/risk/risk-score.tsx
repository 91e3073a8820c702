import { type RiskLevel, riskLevels, wholeScore } from '@actlog/protocol';
import { Bar } from '../icon.tsx';

/** Returns the level of a score. */
export function riskLevelOf(score: number): RiskLevel {
  const levels = ['critical', 'high', 'medium'] as const;
  return levels.find((level) => score >= riskLevels[level]) ?? 'low';
}

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
