import type { Agent } from '@actlog/client';
import type { NamedActivityList } from '@actlog/protocol';
import Bot from 'lucide/dist/esm/icons/bot.mjs';
import { useMemo } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { countText } from '../count-text.ts';
import { useAction } from '../hooks/use-action.ts';
import { useFilterForm, useList } from '../hooks/use-list.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { hasKnownOwner, may } from '../identity.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { Field, FilterSelect, submitted, trimmed } from '../parts/field.tsx';
import { type CsvColumns, SaveList } from '../parts/list-tools.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskScore, riskLevelOf } from '../parts/risk/risk-score.tsx';
import { ListTable } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';
import { Others } from './named-activity.tsx';

/** Pages of 200 agents that a search looks at. */
const searchedPages = 5;

const orders = {
  '': 'newest first',
  calls: 'most calls first',
  failed: 'most failures first',
  risk: 'riskiest first',
};

/** Columns of the saved file. */
const columns: CsvColumns<Agent> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  status: ({ registered, status }) => (registered === false ? 'not registered' : status),
  framework: ({ framework }) => framework,
  version: ({ version }) => version,
  owner: ({ owner }) => owner,
  lastSeenAt: ({ lastSeenAt }) => lastSeenAt,
};

function containsText(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

/** Returns the calls of agents in the last 30 days, and their risk; undefined from services that do not count them. */
function useActivity(isCounted: boolean) {
  const { client } = useConnection();
  const { data } = useLoaded(
    `activity ${isCounted}`,
    async (signal) => {
      if (!isCounted) return undefined;
      const query = { kind: 'agent', limit: 500 };
      return client.request<NamedActivityList>('GET', '/server/v1/activity', { query, signal });
    },
    { everyMs: 30_000 },
  );
  const calls = useMemo(() => new Map(data?.items.map((one) => [one.name, one])), [data]);
  return { calls, others: data?.others, risk: data?.risk ?? {} };
}

/** Highest score of an agent's sessions of seven days, with a link to them. */
function RecentRisk({ id, score }: { id: string; score: number | undefined }) {
  if (score === undefined) return <span class="faint">–</span>;
  return (
    <a
      href={href(['sessions'], { agent: id, since: '7d', order: 'risk' })}
      title="Highest score in seven days"
    >
      <RiskScore risk={{ score, level: riskLevelOf(score) }} />
    </a>
  );
}

/** Page with the agents, registered or known only from their events. */
export function Agents({ query }: { query: URLSearchParams }) {
  const { client, identity } = useConnection();
  const part = query.get('id') ?? '';
  const order = query.get('order') ?? '';
  const isWhole = part === '' && order === '';
  const { calls: activity, others, risk } = useActivity(hasKnownOwner(identity));
  const all = useList(
    `agents ${isWhole}`,
    // A search looks at many agents, the list at the newest ones.
    (page, signal) => client.agents.list({ ...page, ...(!isWhole && { limit: 200 }) }, { signal }),
    { everyMs: 10_000, nameOf: ({ id }) => id, firstPages: isWhole ? 1 : searchedPages },
  );
  const callsOf = ({ id }: Agent) => activity.get(id)?.calls ?? 0;
  const failedOf = ({ id }: Agent) => {
    const { errors = 0, denials = 0 } = activity.get(id) ?? {};
    return errors + denials;
  };
  const items = all.items?.filter(({ id, name }) => containsText(id, part) || containsText(name ?? '', part));
  if (order === 'calls') items?.sort((left, right) => callsOf(right) - callsOf(left));
  if (order === 'failed') items?.sort((left, right) => failedOf(right) - failedOf(left));
  if (order === 'risk') items?.sort((left, right) => (risk[right.id] ?? 0) - (risk[left.id] ?? 0));
  const shown = { ...all, items };
  const form = useFilterForm({ id: part, order });
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
      <search>
        <form
          ref={form}
          class="filters"
          onSubmit={submitted((fields) => {
            location.hash = href(['agents'], trimmed(fields));
          })}
        >
          <Field label="Id or name contains">
            <input name="id" placeholder="any" maxLength={200} autocomplete="off" spellcheck={false} />
          </Field>
          <FilterSelect label="Order" name="order" options={orders} />
          <button type="submit">Filter</button>
          {!isWhole && <a href={href(['agents'])}>Show all</a>}
        </form>
      </search>
      <div class="list-tools">
        {!isWhole && all.hasMore && (
          <span class="faint">Among the newest {countText(all.items?.length ?? 0)} agents.</span>
        )}
        <Others of={others} />
        <SaveList
          name="agents"
          columns={columns}
          list={(page, signal) => client.agents.list({ ...page, limit: 200 }, { signal })}
        />
      </div>
      <Problem error={change.error} />
      <ListTable
        shown={shown}
        caption="Agents, newest first"
        columns={[
          'Agent',
          'Name',
          'Status',
          'Risk, 7 days',
          'Calls',
          'Failed',
          'Framework',
          'Version',
          'Owner',
          'Last seen',
          'Actions',
        ]}
        empty={
          !isWhole ? (
            'No agent matches.'
          ) : (
            <EmptyState icon={Bot} title="No agent was seen or registered yet.">
              <p>An agent appears with its first event or check. Its recorder names it:</p>
              <pre>{`new Recorder({ agentId: 'billing-agent' })`}</pre>
            </EmptyState>
          )
        }
        row={(agent) => (
          <tr key={agent.id}>
            <th scope="row">
              <a class="one-line" href={href(['agents', agent.id])} title={agent.id}>
                {agent.id}
              </a>
            </th>
            <td class="narrow">{agent.name}</td>
            <td>
              <span class={`badge ${agent.status === 'revoked' ? 'bad' : ''}`}>
                {agent.registered === false ? 'not registered' : agent.status}
              </span>
            </td>
            <td class="agent-risk">
              <RecentRisk id={agent.id} score={risk[agent.id]} />
            </td>
            <td class="number">{activity.has(agent.id) ? countText(callsOf(agent)) : '–'}</td>
            <td class={`number ${failedOf(agent) > 0 ? 'mark-error' : 'faint'}`}>
              {activity.has(agent.id) ? countText(failedOf(agent)) : '–'}
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
