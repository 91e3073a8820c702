import type { RiskySession } from '@actlog/protocol';
import { countText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { RiskScore } from '../risk/risk-score.tsx';
import { Time } from '../time.tsx';
import { PanelTable } from './panel-table.tsx';

const columns = [
  { title: 'Risk' },
  { title: 'Session' },
  { title: 'Agent', importance: 'second' },
  { title: 'Events', isNumber: true, importance: 'third' },
  { title: 'Errors', isNumber: true, importance: 'third' },
  { title: 'Started', importance: 'second' },
] as const;

/** Sessions with the highest scores. */
export function RiskiestSessions({ sessions }: { sessions: readonly RiskySession[] }) {
  return (
    <section class="panel risky" aria-labelledby="riskiest">
      <h2 id="riskiest">
        <a href={href(['sessions'], { order: 'risk' })}>Riskiest sessions</a>
      </h2>
      {sessions.length === 0 ? (
        <p class="empty">Every session that started in this time scores 0 or was handled.</p>
      ) : (
        <PanelTable caption="Riskiest sessions" columns={columns}>
          {sessions.map(({ id, agentId, risk, eventCount, errorCount, startedAt }) => (
            <tr key={id}>
              <td>
                <RiskScore risk={risk} />
              </td>
              <th scope="row">
                <a class="brief" href={href(['sessions', id])}>
                  {id}
                </a>
              </th>
              <td class="second">
                <a class="brief" href={href(['sessions'], { agent: agentId })}>
                  {agentId}
                </a>
              </td>
              <td class="number third">{countText(eventCount)}</td>
              <td class={`number third ${errorCount > 0 ? 'bad' : ''}`}>{countText(errorCount)}</td>
              <td class="second">
                <Time at={startedAt} />
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
    </section>
  );
}
