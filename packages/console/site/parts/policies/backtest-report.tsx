import type { BacktestResult } from '@actlog/client/server';
import { href } from '../../route.ts';
import { Table } from '../table.tsx';

/** Maximum number of changes in the table. */
const shownChanges = 20;

function count(number: number): string {
  return number.toLocaleString('en-US');
}

function name(effect: string): string {
  return effect.replace('_', ' ');
}

/** Result of a backtest: a summary, and the decisions that would be different by tool and agent. */
export function BacktestReport({
  result,
  isAsEnforced,
}: {
  result: BacktestResult;
  /** `true` if the policy only logs, and was tried as if it were enforced. */
  isAsEnforced: boolean;
}) {
  const { decisions, changed, cannotTell, changes } = result;
  const more = changes.length - shownChanges;
  return (
    <>
      <p>
        {isAsEnforced && 'As if it were enforced. '}
        {decisions === 0
          ? 'No decision was kept in the last 30 days.'
          : `Of ${count(decisions)} decisions in the last 30 days, ${count(changed)} would have been different.`}
        {cannotTell > 0 &&
          ` For ${count(cannotTell)} it cannot be told, because the condition reads what was not shown.`}
      </p>
      {changes.length > 0 && (
        <Table
          caption="Decisions that would be different"
          columns={['Tool', 'Agent', 'Was', 'Would be', 'Count']}
        >
          {changes.slice(0, shownChanges).map(({ toolName, agentId, from, to, count: times, examples }) => (
            <tr key={examples[0]}>
              <th scope="row">
                <a
                  class="whole"
                  href={href(['decisions'], { agent: agentId, tool: toolName, decision: from })}
                >
                  {toolName}
                </a>
              </th>
              <td>
                <span class="whole">{agentId}</span>
              </td>
              <td>
                <span class={`badge effect-${from}`}>{name(from)}</span>
              </td>
              <td>
                <span class={`badge effect-${to}`}>{name(to)}</span>
              </td>
              <td class="number">{count(times)}</td>
            </tr>
          ))}
        </Table>
      )}
      {more > 0 && <p class="faint">and {count(more)} more combinations of tool and agent</p>}
    </>
  );
}
