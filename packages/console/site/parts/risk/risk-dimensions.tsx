import type { RiskDimension } from '@actlog/client';
import { wholeScore } from '@actlog/protocol';
import { Bar } from '../bar.tsx';
import { Table } from '../table.tsx';

function Dimension({ dimension: { id, name, score, level, observable } }: { dimension: RiskDimension }) {
  return (
    <tr class={observable ? `level-${level}` : 'faint'}>
      <th scope="row">
        <span class="faint">{id}</span> {name}
      </th>
      {observable ? (
        <>
          <td class="number">{wholeScore(score)}</td>
          <td>
            <span class="risk">
              <Bar score={score} /> <span class="badge level">{level}</span>
            </span>
          </td>
        </>
      ) : (
        <td colSpan={2} class="faint">
          not observable
        </td>
      )}
    </tr>
  );
}

/** Table of the ten dimensions of a session's risk. */
export function RiskDimensions({ dimensions }: { dimensions: readonly RiskDimension[] }) {
  return (
    <>
      <Table caption="Risk by dimension" columns={['Dimension', 'Score', 'Level']}>
        {dimensions.map((dimension) => (
          <Dimension key={dimension.id} dimension={dimension} />
        ))}
      </Table>
      {dimensions.some(({ observable }) => !observable) && (
        <p class="faint">
          Not observable: tool calls alone cannot show this dimension. That is no all-clear.
        </p>
      )}
    </>
  );
}
