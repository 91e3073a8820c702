import type { Session } from '@actlog/client';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useList } from '../hooks/use-list.ts';
import { FirstEvent } from '../parts/events/first-event.tsx';
import { Field } from '../parts/field.tsx';
import { ListTable } from '../parts/list-table.tsx';
import { RiskScore } from '../parts/risk/risk-score.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';
import { startedWithin } from '../started-within.ts';
import { submitted } from '../submitted.ts';

const shownTools = 4;

function tools({ toolNames = [] }: Session): string {
  const more = toolNames.length - shownTools;
  return toolNames.slice(0, shownTools).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Page with the sessions, newest first, filtered by the address. */
export function Sessions({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const agent = query.get('agent') ?? '';
  const risk = query.get('risk') ?? '';
  const from = query.get('from') ?? '';
  const until = query.get('until') ?? '';
  const shown = useList(
    `sessions ${query}`,
    (page, signal) =>
      client.sessions.list(
        {
          ...page,
          ...(agent && { agentId: agent }),
          ...(risk && { minRiskScore: Number(risk) }),
          ...startedWithin(from, until),
        },
        { signal },
      ),
    { everyMs: 5000, nameOf: ({ id }) => id },
  );
  const form = useRef<HTMLFormElement>(null);
  // The fields follow the address and keep the focus.
  useLayoutEffect(() => form.current?.reset(), [agent, risk, from, until]);
  const isFiltered = [agent, risk, from, until].some((filter) => filter !== '');
  return (
    <>
      <h1>Sessions</h1>
      <form
        ref={form}
        class="filters"
        onSubmit={submitted((fields) => {
          const given = [...fields].map(([name, value]) => [name, String(value).trim()]);
          location.hash = href(['sessions'], Object.fromEntries(given));
        })}
      >
        <Field label="Agent">
          <input name="agent" defaultValue={agent} placeholder="any" spellcheck={false} />
        </Field>
        <Field label="Risk score from">
          <input name="risk" type="number" min={0} max={100} defaultValue={risk} placeholder="0" />
        </Field>
        <Field label="Started from">
          <input name="from" type="date" defaultValue={from} />
        </Field>
        <Field label="Started until">
          <input name="until" type="date" defaultValue={until} />
        </Field>
        <button type="submit">Filter</button>
        {isFiltered && <a href={href(['sessions'])}>Show all</a>}
      </form>
      <ListTable
        shown={shown}
        caption="Sessions, newest first"
        columns={['Session', 'Risk', 'Agent', 'Events', 'Errors', 'Tools', 'Started', 'Last event']}
        empty={isFiltered ? 'No session matches.' : <FirstEvent />}
        row={(session) => (
          <tr key={session.id}>
            <th scope="row">
              <a class="whole" href={href(['sessions', session.id])}>
                {session.id}
              </a>
            </th>
            <td>
              <RiskScore risk={session.risk} />
            </td>
            <td>
              <span class="whole">{session.agentId}</span>
            </td>
            <td class="number">{session.eventCount}</td>
            <td class={`number ${session.errorCount ? 'bad' : ''}`}>{session.errorCount}</td>
            <td class="faint wide">{tools(session)}</td>
            <td>
              <Time at={session.startedAt} />
            </td>
            <td>
              <Time at={session.lastEventAt} />
            </td>
          </tr>
        )}
      />
    </>
  );
}
