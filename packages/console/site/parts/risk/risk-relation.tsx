import type { Risk } from '@actlog/client';
import { wholeScore } from '@actlog/protocol';

/** Sentences that relate the score of a session to its dimensions and its reasons. */
export function RiskRelation({ risk: { score, dimensions = [] } }: { risk: Risk }) {
  const raised = dimensions.filter((dimension) => dimension.observable && dimension.score >= 1);
  if (score === undefined || raised.length === 0) return null;
  const [highest, ...others] = raised.toSorted((one, other) => other.score - one.score);
  if (highest === undefined) return null;
  return (
    <p class="relation">
      The session scores <strong>{wholeScore(score)}</strong>. Its highest dimension is {highest.id}{' '}
      {highest.name} with {wholeScore(highest.score)}
      {others.length > 0 &&
        `, and ${others.length} more ${others.length === 1 ? 'adds' : 'add'} to it: dimensions count as independent signals, so together they score higher than the highest one. Evidence that several share counts once`}
      . Each reason says what the score would be without it. Reasons support each other, so these differences
      do not add up to the score.
    </p>
  );
}
