import type { Risk, RiskDimension, RiskFactor, RiskRecommendation } from '@actlog/client';
import { wholeScore } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { now } from '../../clock.ts';
import { useConnection } from '../../connection.ts';
import { allFactors } from '../../events/event-marks.ts';
import { useAction } from '../../hooks/use-action.ts';
import { ConfirmButton } from '../confirm-button.tsx';
import { Bar } from '../icon.tsx';
import { Problem } from '../problem.tsx';
import { Table } from '../table.tsx';

/** Properties of {@link RiskReport} and of its reasons. */
interface RiskReportProps {
  risk: Risk;
  /** Returns the name of an event: its tool and time, as far as they are known. */
  labelOf: (eventId: string, index: number) => string;
  /** Called with the event that the user wants to see. */
  onShow: (eventId: string) => void;
  /** Called with the rule of a reason that the user expected; undefined for users who may not say so. */
  onExpected: ((ruleId: string) => void) | undefined;
}

/** Risk of a session: the reasons with recommendations, and behind a fold how they make up the score. */
export function RiskReport({ risk, labelOf, onShow, onExpected }: RiskReportProps) {
  const told = (risk.dimensions ?? []).filter(({ observable, score }) => observable && score >= 1);
  const hidden = (risk.dimensions ?? []).filter(({ observable }) => !observable);
  return (
    <>
      <h3 class="hidden">Reasons and recommendations</h3>
      <RiskFactors risk={risk} labelOf={labelOf} onShow={onShow} onExpected={onExpected} />
      {told.length > 0 && (
        <details class="arithmetic">
          <summary>How the score is computed</summary>
          <RiskRelation risk={risk} />
          <div class="report">
            {told.length > 2 && <RiskRadar dimensions={told} />}
            <div>
              <Table caption="Risk by dimension" columns={['Dimension', 'Score', 'Level']}>
                {told.map((dimension) => (
                  <Dimension key={dimension.id} dimension={dimension} />
                ))}
              </Table>
              <Table caption="Score without each reason" columns={['Reason', 'Score without it']}>
                {allFactors(risk).map(({ ruleId, title, delta }) => (
                  <tr key={ruleId}>
                    <th scope="row">{title}</th>
                    <td class="number">
                      {((risk.score ?? 0) - delta).toFixed(1)}{' '}
                      <span class="faint">(−{delta.toFixed(1)})</span>
                    </td>
                  </tr>
                ))}
              </Table>
              {hidden.length > 0 && (
                <p class="faint">
                  The records of this session could not show {hidden.map(({ id }) => id).join(', ')}. That is
                  no all-clear.
                </p>
              )}
            </div>
          </div>
        </details>
      )}
    </>
  );
}

/** Sentences that relate the score of a session to its dimensions and its reasons. */
function RiskRelation({ risk: { score, dimensions = [] } }: { risk: Risk }) {
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
      . The second table says what the score would be without each reason. Reasons support each other, so
      these differences do not add up to the score.
    </p>
  );
}

const radius = 100;

/** Returns the point of a score on the axis of its dimension; the first axis points up. */
function point(index: number, count: number, score: number): string {
  const angle = (index / count) * 2 * Math.PI;
  const distance = (score / 100) * radius;
  return `${(Math.sin(angle) * distance).toFixed(1)},${(-Math.cos(angle) * distance).toFixed(1)}`;
}

/** Radar chart of a risk. It repeats the table next to it, so it is hidden from screen readers. */
function RiskRadar({ dimensions }: { dimensions: readonly RiskDimension[] }) {
  const count = dimensions.length;
  const ring = (score: number) => dimensions.map((_, index) => point(index, count, score)).join(' ');
  return (
    <svg class="radar" viewBox="-130 -118 260 236" aria-hidden="true">
      {[25, 50, 75, 100].map((score) => (
        <polygon key={score} class="ring" points={ring(score)} />
      ))}
      <polygon
        class="shape"
        points={dimensions.map(({ score }, index) => point(index, count, score)).join(' ')}
      />
      {dimensions.map(({ id }, index) => {
        const [x, y] = point(index, count, 112).split(',');
        return (
          <text key={id} x={x} y={y} text-anchor="middle" dominant-baseline="middle">
            {id.slice(-2)}
          </text>
        );
      })}
    </svg>
  );
}

function Dimension({ dimension: { id, name, score, level } }: { dimension: RiskDimension }) {
  return (
    <tr class={`level-${level}`}>
      <th scope="row">
        <span class="faint">{id}</span> {name}
      </th>
      <td class="number">{wholeScore(score)}</td>
      <td>
        <span class="risk">
          <Bar score={score} /> <span class="badge level">{level}</span>
        </span>
      </td>
    </tr>
  );
}

/** Number of reasons that are shown at once. */
const firstFactors = 4;

/** Returns the dimension with a factor of a rule. */
function dimensionOf({ dimensions = [] }: Risk, { ruleId }: RiskFactor): RiskDimension | undefined {
  return dimensions.find(({ factors }) => factors?.some((factor) => factor.ruleId === ruleId));
}

function Factor({
  factor,
  dimension,
  recommendation,
  labelOf,
  onShow,
  onExpected,
}: {
  factor: RiskFactor;
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
function RiskFactors({ risk, labelOf, onShow, onExpected }: RiskReportProps) {
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

/** Time after its last event at which a session can be learned, in milliseconds. */
const endedAfterMs = 30 * 60_000;

/**
 * Button to learn a session that scored high but was benign: such a session is not learned automatically. Uses private
 * endpoints of the reference server, as the keys do.
 */
export function LearnSession({
  sessionId,
  agentId,
  lastEventAt,
}: {
  sessionId: string;
  agentId: string;
  lastEventAt: string | undefined;
}) {
  const { client } = useConnection();
  const [isLearned, setLearned] = useState<boolean>();
  const learn = useAction(async () => {
    const path = `/console/api/sessions/${encodeURIComponent(sessionId)}/learn` as const;
    setLearned((await client.request<{ learned: boolean }>('POST', path, { body: {} })).learned);
  });
  const hasEnded = now().getTime() - Date.parse(lastEventAt ?? '') > endedAfterMs;
  return (
    <div>
      <p class="faint">
        Sessions of this level do not become part of the baseline of {agentId} unless a person confirms them
        {hasEnded ? '.' : ' here, half an hour after the last event.'}
      </p>
      {hasEnded && (
        <ConfirmButton
          label="This session was benign"
          question={`Yes, add it to the baseline of ${agentId}`}
          isBusy={learn.isBusy}
          onConfirm={learn.run}
        />
      )}
      <p role="status">
        {isLearned === true && `Learned. New sessions of ${agentId} are compared with it too.`}
        {isLearned === false && 'Not learned: it has no call, or the baseline is full of confirmed sessions.'}
      </p>
      <Problem error={learn.error} />
    </div>
  );
}
