import { createLegalHold, getForwarding, getRetention, releaseLegalHold } from '@actlog/client/server';
import type {
  ClassRetention,
  ForwardingState,
  LegalHold,
  LegalHoldPage,
  RetentionClass,
} from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { countText } from '../count-text.ts';
import { useAction } from '../hooks/use-action.ts';
import { serverPages, useList } from '../hooks/use-list.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { managesKeys } from '../identity.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Loading } from '../parts/empty-state.tsx';
import { Field, FieldErrorsContext, fieldErrors, submitted } from '../parts/field.tsx';
import { AdministratorsOnly, Problem } from '../parts/problem.tsx';
import { StatusTabs } from '../parts/status-tabs.tsx';
import { ListTable, Table } from '../parts/table.tsx';
import { actorName, Time } from '../parts/time.tsx';

/** Page about how long records are kept, what is under a legal hold, and where they are forwarded. */
export function Records({ query }: { query: URLSearchParams }) {
  const { identity } = useConnection();
  return (
    <>
      <h1>Records</h1>
      {managesKeys(identity) ? (
        <>
          <LegalHolds query={query} />
          <Retention />
          <ForwardingPanel />
        </>
      ) : (
        <AdministratorsOnly what="Retention, legal holds and forwarding" />
      )}
    </>
  );
}

const statuses = ['active', 'released'] as const;

function LegalHolds({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const [news, setNews] = useState('');
  const current = statuses.find((known) => known === query.get('status')) ?? 'active';
  const shown = useList<LegalHold>(
    `legal holds ${current}`,
    serverPages<LegalHoldPage>(client, '/server/v1/legal-holds', { active: current === 'active' }),
    { everyMs: 10_000, nameOf: ({ id }) => id },
  );
  const onChanged = (text: string) => {
    setNews(text);
    shown.reload();
  };
  return (
    <section aria-labelledby="legal-holds">
      <h2 id="legal-holds">Legal holds</h2>
      <p class="faint">
        Nothing that a legal hold covers is deleted, by anyone, until it is released: not by retention, and
        not by an operator.
      </p>
      <StatusTabs place="records" statuses={statuses} current={current} />
      <p role="status" class={news && 'news'} tabIndex={-1}>
        {news}
      </p>
      <ListTable
        shown={shown}
        caption="Legal holds, newest first"
        columns={['Name', 'Covers', 'Placed by', 'Placed', 'Status']}
        empty={current === 'active' ? 'No legal hold is in force.' : 'No legal hold was released.'}
        row={(hold) => <HoldRow key={hold.id} hold={hold} onReleased={onChanged} />}
      />
      {current === 'active' && <NewHold onPlaced={onChanged} />}
    </section>
  );
}

/** Returns what a hold covers, as a phrase. */
function coverText({ agentId, sessionId, since, until }: LegalHold): string {
  const parts = [
    agentId !== null && `agent ${agentId}`,
    sessionId !== null && `session ${sessionId}`,
    since !== null && `from ${since}`,
    until !== null && `until ${until}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'everything' : parts.join(', ');
}

function HoldRow({ hold, onReleased }: { hold: LegalHold; onReleased: (news: string) => void }) {
  const { client } = useConnection();
  const { id, name, createdBy, createdByKind, createdByPrincipal, createdAt, releasedAt } = hold;
  const release = useAction(async () => {
    await releaseLegalHold(client, id);
    onReleased(`Released ${name}. Retention may delete what it covered.`);
  });
  return (
    <tr>
      <th scope="row">
        <bdi class="whole">{name}</bdi>
      </th>
      <td>
        <bdi class="whole">{coverText(hold)}</bdi>
      </td>
      <td>
        <span class="whole">
          {createdBy === null ? 'an operator' : actorName(createdBy, createdByPrincipal)}
        </span>
      </td>
      <td>
        <Time at={createdAt} />
      </td>
      <td>
        {releasedAt !== null ? (
          <>
            released <Time at={releasedAt} />
          </>
        ) : (
          <>
            <span class="badge good">in force</span>{' '}
            {createdByKind === 'operator' ? (
              <span class="faint">An operator releases it.</span>
            ) : (
              <ConfirmButton
                label="Release"
                question="Release: retention may delete it"
                isBusy={release.isBusy}
                onConfirm={() => release.run()}
              />
            )}
          </>
        )}
        <Problem error={release.error} />
      </td>
    </tr>
  );
}

const holdFields = ['name', 'agentId', 'sessionId', 'since', 'until'];

function NewHold({ onPlaced }: { onPlaced: (news: string) => void }) {
  const { client } = useConnection();
  const place = useAction(async ({ fields, form }: { fields: FormData; form: HTMLFormElement }) => {
    const given = (name: string) => String(fields.get(name) ?? '').trim() || null;
    const time = (name: string) => {
      const text = given(name);
      return text === null ? null : new Date(text).toISOString();
    };
    const hold = await createLegalHold(client, {
      name: String(given('name')),
      agentId: given('agentId'),
      sessionId: given('sessionId'),
      since: time('since'),
      until: time('until'),
    });
    form.reset();
    onPlaced(`Placed ${hold.name}: it covers ${coverText(hold)}.`);
  });
  const errors = fieldErrors(place.error, (path) => holdFields.find((name) => name === path));
  return (
    <FieldErrorsContext.Provider value={errors ?? new Map()}>
      <h3>New legal hold</h3>
      <form class="grid" onSubmit={submitted((fields, form) => place.run({ fields, form }))}>
        <Field label="Name" hint="Of the matter, such as a case number. All that you fill in must apply.">
          <input name="name" required maxLength={200} autocomplete="off" />
        </Field>
        <Field label="Agent" hint="Sessions in which it took part.">
          <input name="agentId" placeholder="any" spellcheck={false} autocomplete="off" />
        </Field>
        <Field label="Session">
          <input name="sessionId" placeholder="any" spellcheck={false} autocomplete="off" />
        </Field>
        <Field label="From">
          <input name="since" type="datetime-local" />
        </Field>
        <Field label="Until">
          <input name="until" type="datetime-local" />
        </Field>
        <p class="buttons">
          <button type="submit" aria-disabled={place.isBusy}>
            Place
          </button>
        </p>
      </form>
      <Problem error={errors ? undefined : place.error} />
    </FieldErrorsContext.Provider>
  );
}

const classNames: Readonly<Record<RetentionClass, string>> = {
  sessions: 'Sessions, with their events',
  decisions: 'Decisions',
  approvals: 'Held actions, with their approvals',
  audit: 'Audit log',
};

function daysText(days: number | null): string {
  return days === null ? 'forever' : `${countText(days)} ${days === 1 ? 'day' : 'days'}`;
}

function Retention() {
  const { client } = useConnection();
  const { data, error, reload } = useLoaded('retention', (signal) => getRetention(client, { signal }));
  return (
    <section aria-labelledby="retention">
      <h2 id="retention">Retention</h2>
      <p class="faint">
        An operator changes it with <code>actlog retention</code>. Nothing is deleted before its floor, except
        by an erasure.
      </p>
      <Problem error={error} onRetry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : (
        <Table caption="Retention by class of records" columns={['Records', 'Kept for', 'Floor']} isCards>
          {data.classes.map((retention: ClassRetention) => (
            <tr key={retention.class}>
              <th scope="row">{classNames[retention.class]}</th>
              <td>{daysText(retention.days)}</td>
              <td>{retention.floorDays === 0 ? 'none' : daysText(retention.floorDays)}</td>
            </tr>
          ))}
        </Table>
      )}
    </section>
  );
}

/** Returns a lag in the largest fitting unit. */
function lagText(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

function ForwardingPanel() {
  const { client } = useConnection();
  const { data, error, reload } = useLoaded('forwarding', (signal) => getForwarding(client, { signal }), {
    everyMs: 10_000,
  });
  return (
    <section aria-labelledby="forwarding">
      <h2 id="forwarding">Forwarding</h2>
      <Problem error={error} onRetry={reload} />
      {data === undefined ? (
        error === undefined && <Loading />
      ) : data.items.length === 0 ? (
        <p class="empty">
          Records are not forwarded. An operator sends them to a SIEM or to object storage with the setting{' '}
          <code>ACTLOG_FORWARD</code>, and to a history with <code>ACTLOG_HISTORY</code>.
        </p>
      ) : (
        <Table
          caption="Destinations of the records"
          columns={['Destination', 'State', 'Last entry', 'Behind', 'Last success', 'Last error']}
          isCards
        >
          {data.items.map((state) => (
            <ForwardingRow key={state.name} state={state} />
          ))}
        </Table>
      )}
    </section>
  );
}

function ForwardingRow({ state }: { state: ForwardingState }) {
  const { name, kind, position, lagRecords, lagSeconds, failures, lastSuccessAt, lastError } = state;
  return (
    <tr>
      <th scope="row">
        <bdi class="whole">{name}</bdi> {name !== kind && <span class="faint">{kind}</span>}
      </th>
      <td>
        <span class={`badge ${failures > 0 ? 'bad' : 'good'}`}>{failures > 0 ? 'failing' : 'healthy'}</span>
      </td>
      <td>{position === null ? <span class="faint">none</span> : countText(position)}</td>
      <td>
        {lagRecords === 0 ? (
          <span class="faint">up to date</span>
        ) : (
          `${countText(lagRecords)} ${lagRecords === 1 ? 'entry' : 'entries'}, ${lagText(lagSeconds)}`
        )}
      </td>
      <td>
        <Time at={lastSuccessAt} />
      </td>
      <td>{lastError === null ? <span class="faint">none</span> : <bdi class="whole">{lastError}</bdi>}</td>
    </tr>
  );
}
