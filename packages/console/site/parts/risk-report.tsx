import type { Risk, RiskDimension, RiskFactor } from '@actlog/client';
import { RiskRadar } from './risk-radar.tsx';
import { Table } from './table.tsx';

function Factor({ factor, onShow }: { factor: RiskFactor; onShow: (eventId: string) => void }) {
  const { evidence } = factor;
  return (
    <li>
      <strong>{factor.title}</strong>
      <p>{factor.explanation}</p>
      <p class="faint">
        {evidence.count} {evidence.count === 1 ? 'event' : 'events'}:{' '}
        {evidence.eventIds.map((eventId, index) => (
          <button key={eventId} type="button" class="link" onClick={() => onShow(eventId)}>
            show {index + 1}
          </button>
        ))}
      </p>
      <p>{factor.recommendation}</p>
    </li>
  );
}

function Dimension({ dimension }: { dimension: RiskDimension }) {
  const { id, name, score, level, observable, factors } = dimension;
  return (
    <tr class={`level-${level}`}>
      <th scope="row">
        <span class="faint">{id}</span> {name}
      </th>
      <td class="number">{observable ? Math.round(score) : '–'}</td>
      <td>
        {observable ? (
          <meter min={0} max={100} value={score} aria-label={`${name}: ${level}`} />
        ) : (
          <span class="faint" title="Tool calls alone cannot show this dimension: no all-clear.">
            not observable
          </span>
        )}
      </td>
      <td class="faint wide">{factors.length > 0 ? factors.map(({ title }) => title).join('; ') : ''}</td>
    </tr>
  );
}

/** The ten dimensions of a session's risk, the strongest reasons for it, and what to do. */
export function RiskReport({
  risk,
  onShow,
}: {
  risk: Risk;
  /** Told which event the person wants to see. */
  onShow: (eventId: string) => void;
}) {
  const { dimensions = [], factors = [], recommendations = [] } = risk;
  return (
    <>
      <div class="side-by-side">
        <RiskRadar dimensions={dimensions} />
        <Table caption="Risk by dimension" columns={['Dimension', 'Score', 'Level', 'Factors']}>
          {dimensions.map((dimension) => (
            <Dimension key={dimension.id} dimension={dimension} />
          ))}
        </Table>
      </div>
      {factors.length > 0 && (
        <>
          <h3>Why</h3>
          <ul class="factors">
            {factors.map((factor) => (
              <Factor
                key={`${factor.ruleId} ${factor.evidence.eventIds[0]}`}
                factor={factor}
                onShow={onShow}
              />
            ))}
          </ul>
        </>
      )}
      {recommendations.length > 0 && (
        <>
          <h3>What to do</h3>
          <ul>
            {recommendations.map(({ id, title, text }) => (
              <li key={id}>
                <strong>{title}</strong> {text}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}
