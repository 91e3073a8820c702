import type { Risk, RiskDimension, RiskFactor, RiskRecommendation } from '@actlog/client';
import { wholeScore } from '@actlog/protocol';
import { allFactors } from '../../events/event-marks.ts';

/** Number of reasons that are shown at once. */
const firstFactors = 4;

/** Returns the dimension with a factor of a rule. */
function dimensionOf({ dimensions = [] }: Risk, { ruleId }: RiskFactor): RiskDimension | undefined {
  return dimensions.find(({ factors }) => factors?.some((factor) => factor.ruleId === ruleId));
}

function Factor({
  factor,
  score,
  dimension,
  recommendation,
  labelOf,
  onShow,
  onExpected,
}: {
  factor: RiskFactor;
  /** Score of the session. */
  score: number | undefined;
  /** Dimension of the factor, if the service returns it. */
  dimension: RiskDimension | undefined;
  /** Recommendation for the factor, if the service returns one. */
  recommendation: RiskRecommendation | undefined;
  labelOf: (eventId: string, index: number) => string;
  onShow: (eventId: string) => void;
  onExpected: ((ruleId: string) => void) | undefined;
}) {
  const { evidence } = factor;
  return (
    <li>
      <p class="apart">
        <strong>{factor.title}</strong>
        {dimension && (
          <span class={`badge level level-${dimension.level}`}>
            {dimension.id} · {wholeScore(dimension.score)}
          </span>
        )}
      </p>
      <p>{factor.explanation}</p>
      <p class="faint">
        {evidence.count} {evidence.count === 1 ? 'event' : 'events'}:
        {evidence.eventIds.map((eventId, index) => (
          <button key={eventId} type="button" class="link" onClick={() => onShow(eventId)}>
            {labelOf(eventId, index)}
          </button>
        ))}
      </p>
      {score !== undefined && (
        <p class="faint number">
          Without it, the score would be {(score - factor.delta).toFixed(1)} ({`−${factor.delta.toFixed(1)}`}
          ).
        </p>
      )}
      <p class="advice">
        {recommendation && <strong>{recommendation.title}. </strong>}
        {factor.recommendation}
      </p>
      {onExpected && (
        <p>
          <button
            type="button"
            class="link"
            aria-label={`This is expected: ${factor.title}`}
            onClick={() => onExpected(factor.ruleId)}
          >
            This is expected
          </button>
        </p>
      )}
    </li>
  );
}

/** List of the reasons for a session's risk, strongest first, with events and recommendations. */
export function RiskFactors({
  risk,
  labelOf,
  onShow,
  onExpected,
}: {
  risk: Risk;
  /** Returns the name of an event: its tool and time, as far as they are known. */
  labelOf: (eventId: string, index: number) => string;
  /** Called with the event that the user wants to see. */
  onShow: (eventId: string) => void;
  /** Called with the rule of a reason that the user expected; undefined for users who may not say so. */
  onExpected: ((ruleId: string) => void) | undefined;
}) {
  if (risk.factors === undefined && risk.dimensions === undefined) {
    return <p class="empty">The service gives no reasons.</p>;
  }
  const factors = allFactors(risk);
  if (factors.length === 0) return <p class="empty">Nothing in this session raises its risk.</p>;
  const list = (some: readonly RiskFactor[]) => (
    <ul class="factors">
      {some.map((factor) => (
        <Factor
          key={`${factor.ruleId} ${factor.evidence.eventIds[0]}`}
          factor={factor}
          score={risk.score}
          dimension={dimensionOf(risk, factor)}
          recommendation={risk.recommendations?.find(({ id }) => id === factor.ruleId)}
          labelOf={labelOf}
          onShow={onShow}
          onExpected={onExpected}
        />
      ))}
    </ul>
  );
  const others = factors.slice(firstFactors);
  return (
    <>
      {list(factors.slice(0, firstFactors))}
      {others.length > 0 && (
        <details>
          <summary>{others.length === 1 ? '1 weaker reason' : `${others.length} weaker reasons`}</summary>
          {list(others)}
        </details>
      )}
    </>
  );
}
