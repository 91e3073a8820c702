import type { Agent } from '@actlog/client';
import Bot from 'lucide/dist/esm/icons/bot.mjs';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useList } from '../hooks/use-list.ts';
import { may } from '../identity.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Problem } from '../parts/problem.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';

/** Page with the agents, registered or known only from their events. */
export function Agents() {
  const { client, identity } = useConnection();
  const shown = useList('agents', (page, signal) => client.agents.list(page, { signal }), {
    everyMs: 10_000,
    nameOf: ({ id }) => id,
  });
  const change = useAction(async ({ id, registered, status }: Agent) => {
    if (registered === false) await client.agents.create({ id, name: id });
    else await client.agents.update(id, { status: status === 'revoked' ? 'active' : 'revoked' });
    shown.reload();
  });
  return (
    <>
      <h1>Agents</h1>
      <p class="faint">
        A revoked agent is denied every action that its guard asks about, also one that was approved before.
        So is every other agent of a key that has acted as it, unless the key is shared. What it does without
        asking is recorded and raises the risk: to stop that, revoke its key and end its process.
      </p>
      <Problem error={change.error} />
      <ListTable
        shown={shown}
        caption="Agents, newest first"
        columns={['Agent', 'Name', 'Status', 'Framework', 'Version', 'Owner', 'Last seen', 'Actions']}
        empty={
          <EmptyState icon={Bot} title="No agent was seen or registered yet.">
            <p>An agent appears with its first event or check. Its recorder names it:</p>
            <pre>{`new Recorder({ agentId: 'billing-agent' })`}</pre>
          </EmptyState>
        }
        row={(agent) => (
          <tr key={agent.id}>
            <th scope="row">
              <a class="whole" href={href(['sessions'], { agent: agent.id })}>
                {agent.id}
              </a>
            </th>
            <td class="narrow">{agent.name}</td>
            <td>
              <span class={`badge ${agent.status === 'revoked' ? 'bad' : ''}`}>
                {agent.registered === false ? 'not registered' : agent.status}
              </span>
            </td>
            <td class="narrow">{agent.framework}</td>
            <td class="narrow">{agent.version}</td>
            <td class="narrow">{agent.owner}</td>
            <td>
              <Time at={agent.lastSeenAt} />
            </td>
            <td>
              {may(identity, 'manage') &&
                (agent.registered !== false && agent.status !== 'revoked' ? (
                  <ConfirmButton
                    label="Revoke"
                    question={`Revoke ${agent.id}`}
                    isBusy={change.isBusy}
                    onConfirm={() => change.run(agent)}
                  />
                ) : (
                  <button
                    type="button"
                    class="quiet"
                    aria-disabled={change.isBusy}
                    onClick={() => change.run(agent)}
                  >
                    {agent.registered === false ? 'Register' : 'Reinstate'}
                  </button>
                ))}
            </td>
          </tr>
        )}
      />
    </>
  );
}
