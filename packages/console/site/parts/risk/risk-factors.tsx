import type { Risk, RiskFactor, RiskRecommendation } from '@actlog/client';

function keyOf({ ruleId, evidence }: RiskFactor): string {
  return `${ruleId} ${evidence.eventIds[0]}`;
}

/** Returns all factors, strongest first, from the service's top factors and the dimensions. */
function allFactors({ factors = [], dimensions = [] }: Risk): RiskFactor[] {
  const known = new Set(factors.map(keyOf));
  const others = dimensions
    .flatMap((dimension) => dimension.factors ?? [])
    .filter((factor) => !known.has(keyOf(factor)));
  return [...factors, ...others.sort((one, other) => other.delta - one.delta)];
}

function Factor({
  factor,
  recommendation,
  onShow,
}: {
  factor: RiskFactor;
  /** Recommendation for the factor, if the service returns one. */
  recommendation: RiskRecommendation | undefined;
  onShow: (eventId: string) => void;
}) {
  const { evidence } = factor;
  return (
    <li>
      <p class="apart">
        <strong>{factor.title}</strong>{' '}
        <span class="badge number" title="The score would be lower by this much without it.">
          +{factor.delta.toFixed(1)}
        </span>
      </p>
      <p>{factor.explanation}</p>
      <p class="faint">
        {evidence.count} {evidence.count === 1 ? 'event' : 'events'}:{' '}
        {evidence.eventIds.map((eventId, index) => (
          <button key={eventId} type="button" class="link" onClick={() => onShow(eventId)}>
            show {index + 1}
          </button>
        ))}
      </p>
      <p class="advice">
        {recommendation && <strong>{recommendation.title}. </strong>}
        {factor.recommendation}
      </p>
    </li>
  );
}

/** List of the reasons for a session's risk, strongest first, with events and recommendations. */
export function RiskFactors({
  risk,
  onShow,
}: {
  risk: Risk;
  /** Called with the event that the user wants to see. */
  onShow: (eventId: string) => void;
}) {
  if (risk.factors === undefined && risk.dimensions === undefined) {
    return <p class="empty">The service gives no reasons.</p>;
  }
  const factors = allFactors(risk);
  if (factors.length === 0) return <p class="empty">Nothing in this session raises its risk.</p>;
  return (
    <ul class="factors">
      {factors.map((factor) => (
        <Factor
          key={keyOf(factor)}
          factor={factor}
          recommendation={risk.recommendations?.find(({ id }) => id === factor.ruleId)}
          onShow={onShow}
        />
      ))}
    </ul>
  );
}
