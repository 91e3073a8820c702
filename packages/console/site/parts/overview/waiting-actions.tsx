import type { PendingAction } from '@actlog/client';
import { countText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { ActingAgent } from '../acting-agent.tsx';
import { Time } from '../time.tsx';
import { PanelTable } from './panel-table.tsx';

const columns = [
  { title: 'Tool' },
  { title: 'Agent', importance: 'second' },
  { title: 'Held', importance: 'third' },
  { title: 'Expires' },
] as const;

/** The newest actions that wait for an approver. */
export function WaitingActions({ actions, count }: { actions: readonly PendingAction[]; count: number }) {
  return (
    <section class="panel" aria-labelledby="waiting">
      <h2 id="waiting">
        <a href={href(['approvals'])}>Waiting for approval</a>
      </h2>
      {actions.length === 0 ? (
        <p class="empty">Nothing waits for a person.</p>
      ) : (
        <>
          <PanelTable caption="Newest actions that wait for approval" columns={columns}>
            {actions.map(({ id, action, agentId, subagent, parentAgentIds, createdAt, expiresAt }) => (
              <tr key={id}>
                <th scope="row">
                  <a class="brief" href={href(['approvals'])}>
                    {action?.toolName}
                  </a>
                </th>
                <td class="second">
                  <span class="brief">
                    <ActingAgent {...{ agentId, subagent, parentAgentIds }} />
                  </span>
                </td>
                <td class="third">
                  <Time at={createdAt} />
                </td>
                <td>
                  <Time at={expiresAt} />
                </td>
              </tr>
            ))}
          </PanelTable>
          {count > actions.length && (
            <p>
              <a href={href(['approvals'])}>All {countText(count)} that wait</a>
            </p>
          )}
        </>
      )}
    </section>
  );
}
