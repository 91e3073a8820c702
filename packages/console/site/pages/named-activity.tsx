import type { Agent, Session, StoredEvent } from '@actlog/client';
import { NotFoundError } from '@actlog/client';
import type {
  ApplyingPolicy,
  CallsOfDay,
  EventPage,
  NamedActivity,
  NamedActivityList,
  NamedActivityReport,
  RiskOfDay,
} from '@actlog/protocol';
import Wrench from 'lucide/dist/esm/icons/wrench.mjs';
import type { ComponentChildren } from 'preact';
import { useConnection } from '../connection.ts';
import { countText, shareText, shortCount } from '../count-text.ts';
import { deniedStatus, eventSubject } from '../events/event-marks.ts';
import { useAction } from '../hooks/use-action.ts';
import { useFilterForm } from '../hooks/use-list.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { may } from '../identity.ts';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { EmptyState, Loading, WayBack } from '../parts/empty-state.tsx';
import { Field, submitted, trimmed } from '../parts/field.tsx';
import { type CsvColumns, SaveList } from '../parts/list-tools.tsx';
import { PanelTable } from '../parts/overview/panel-table.tsx';
import { Problem } from '../parts/problem.tsx';
import { RiskScore, riskLevelOf } from '../parts/risk/risk-score.tsx';
import { Time } from '../parts/time.tsx';
import { href } from '../route.ts';

type Kind = 'agent' | 'tool';

/** Field of the search over events by kind. */
const fieldOf = { agent: 'agentId', tool: 'toolName' } as const;

/** Newest calls and sessions on a page. */
const shownCalls = 10;

const reloadMs = 10_000;

/** Page of an agent: what it does, what is usual, what applies to it, and the way to stop it. */
export function AgentPage({ id }: { id: string }) {
  const { client, identity } = useConnection();
  const { data, error, reload } = useLoaded(
    `agent ${id}`,
    async (signal) => {
      const [agent, sessions] = await Promise.all([
        client.agents.get(id, { signal }).catch(unlessUnknown),
        client.agents.sessions(id, { limit: shownCalls }, { signal }),
      ]);
      return { agent, sessions: sessions.items };
    },
    { everyMs: reloadMs },
  );
  const agent = data?.agent;
  const change = useAction(async () => {
    if (agent === undefined || agent.registered === false) await client.agents.create({ id, name: id });
    else await client.agents.update(id, { status: agent.status === 'revoked' ? 'active' : 'revoked' });
    reload();
  });
  return (
    <>
      <WayBack place="agents" title="Agents" />
      <h1>{id}</h1>
      <Problem error={error} onRetry={reload} />
      <Problem error={change.error} />
      {data !== undefined && (
        <div class="list-tools">
          <AgentState agent={agent} />
          {may(identity, 'manage') &&
            (agent !== undefined && agent.registered !== false && agent.status !== 'revoked' ? (
              <ConfirmButton
                label="Revoke"
                question={`Revoke ${id}`}
                isBusy={change.isBusy}
                onConfirm={() => change.run()}
              />
            ) : (
              <button type="button" class="quiet" aria-disabled={change.isBusy} onClick={() => change.run()}>
                {agent?.status === 'revoked' ? 'Reinstate' : 'Register'}
              </button>
            ))}
        </div>
      )}
      <Activity kind="agent" name={id}>
        <Sessions agentId={id} sessions={data?.sessions ?? []} />
      </Activity>
    </>
  );
}

function unlessUnknown(error: unknown): undefined {
  if (error instanceof NotFoundError) return undefined;
  throw error;
}

function AgentState({ agent }: { agent: Agent | undefined }) {
  const details = [agent?.framework, agent?.version, agent?.owner && `owned by ${agent.owner}`].filter(
    Boolean,
  );
  return (
    <>
      <span class={`badge ${agent?.status === 'revoked' ? 'bad' : ''}`}>
        {agent === undefined || agent.registered === false ? 'not registered' : agent.status}
      </span>
      {details.length > 0 && <span class="faint">{details.join(' · ')}</span>}
      <span class="faint">
        last seen <Time at={agent?.lastSeenAt} />
      </span>
    </>
  );
}

function Sessions({ agentId, sessions }: { agentId: string; sessions: readonly Session[] }) {
  return (
    <Panel title="Recent sessions" to={href(['sessions'], { agent: agentId })}>
      {sessions.length === 0 ? (
        <p class="empty">No session.</p>
      ) : (
        <PanelTable
          caption="Recent sessions"
          columns={[
            { title: 'Session' },
            { title: 'Risk' },
            { title: 'Errors', isNumber: true, importance: 'third' },
            { title: 'Started', importance: 'second' },
          ]}
        >
          {sessions.map(({ id = '', risk, errorCount, startedAt }) => (
            <tr key={id}>
              <th scope="row">
                <a class="one-line" href={href(['sessions', id])} title={id}>
                  {id}
                </a>
              </th>
              <td>
                <RiskScore risk={risk} />
              </td>
              <td class={`number third ${errorCount ? 'mark-error' : 'faint'}`}>{errorCount}</td>
              <td class="second">
                <Time at={startedAt} />
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
    </Panel>
  );
}

/** Page of a tool: who calls it, how often it fails, and what applies to it. */
export function ToolPage({ name }: { name: string }) {
  return (
    <>
      <WayBack place="tools" title="Tools" />
      <h1>{name}</h1>
      <Activity kind="tool" name={name} />
    </>
  );
}

/** Everything that the service reports of one agent or tool. */
function Activity({ kind, name, children }: { kind: Kind; name: string; children?: ComponentChildren }) {
  const { client } = useConnection();
  const { data, error, reload } = useLoaded(
    `activity ${kind} ${name}`,
    async (signal) => {
      const path = `/server/v1/${kind}s/${encodeURIComponent(name)}/activity`;
      const eventsOf = (query: object) =>
        client.request<EventPage>('GET', '/server/v1/events', {
          query: { [fieldOf[kind]]: name, category: 'tool_api', limit: shownCalls, ...query },
          signal,
        });
      const [report, calls] = await Promise.all([
        client.request<NamedActivityReport>('GET', path, { signal }),
        eventsOf({}),
      ]);
      const hasDenials = report.recent.names.some(({ denials }) => denials > 0);
      return {
        report,
        calls: calls.items,
        denials: hasDenials ? (await eventsOf({ status: 'denied', limit: 5 })).items : [],
      };
    },
    { everyMs: reloadMs },
  );
  const others = kind === 'agent' ? 'tools' : 'agents';
  const filter = { [fieldOf[kind]]: name };
  return (
    <>
      <Problem error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Loading rows={10} />}
      {data !== undefined && (
        <div class="overview">
          <Totals report={data.report} filter={filter} />
          <div class="panels named-panels">
            <Trend days={data.report.days} filter={filter} />
            {/* Another version of the service has no risk by day. */}
            {data.report.risk != null && <RiskTrend days={data.report.risk} agentId={name} />}
            <Usual report={data.report} kind={kind} />
            <Names report={data.report} others={others} />
            <Policies policies={data.report.policies} kind={kind} />
            {data.report.keys !== null && <Keys keys={data.report.keys} />}
            {data.denials.length > 0 && (
              <Calls
                title="Recent denials"
                calls={data.denials}
                kind={kind}
                to={href(['events'], { ...filter, status: 'denied' })}
              />
            )}
            <Calls title="Recent calls" calls={data.calls} kind={kind} to={href(['events'], filter)} />
            {children}
          </div>
        </div>
      )}
    </>
  );
}

function Panel({ title, to, children }: { title: string; to?: string; children: ComponentChildren }) {
  const id = `panel-${title.replaceAll(/\W+/g, '-')}`;
  return (
    <section class="panel" aria-labelledby={id}>
      <h2 id={id}>{to === undefined ? title : <a href={to}>{title}</a>}</h2>
      {children}
    </section>
  );
}

/** Counts of the days, each a link to the calls that it counts. */
function Totals({
  report,
  filter,
}: {
  report: NamedActivityReport;
  filter: Readonly<Record<string, string>>;
}) {
  const sum = (of: (day: CallsOfDay) => number) => report.days.reduce((total, day) => total + of(day), 0);
  const calls = sum((day) => day.calls);
  const totals = [
    ['Calls', calls, '', `in ${report.days.length} days`],
    ['Failed', sum(({ errors }) => errors), 'error', 'mark-error'],
    ['Denied', sum(({ denials }) => denials), 'denied', 'mark-denied'],
  ] as const;
  return (
    <ul class="totals">
      {totals.map(([label, count, status, note]) => (
        <li key={label}>
          <a href={href(['events'], { ...filter, status, category: 'tool_api', since: report.since })}>
            <span>{label}</span>{' '}
            <b class={`number ${status !== '' && count > 0 ? note : ''}`}>{shortCount(count)}</b>{' '}
            <span class="faint">{status === '' ? note : `${shareText(count, calls)} of calls`}</span>
          </a>
        </li>
      ))}
    </ul>
  );
}

const dayMs = 86_400_000;

/** Bars of the days. Each is a link to the calls of the day. */
function Trend({ days, filter }: { days: readonly CallsOfDay[]; filter: Readonly<Record<string, string>> }) {
  const most = Math.max(1, ...days.map(({ calls }) => calls));
  const height = (count: number) => ({ height: `${(count / most) * 100}%` });
  return (
    <Panel title="Calls by day (UTC)">
      <ol class="day-bars">
        {days.map(({ at, calls, errors, denials }) => {
          const day = at.slice(0, 10);
          const words = `${day}: ${countText(calls)} calls, ${countText(errors)} failed, ${countText(denials)} denied`;
          const until = new Date(Date.parse(at) + dayMs).toISOString();
          return (
            <li key={at}>
              {calls > 0 && (
                <a
                  href={href(['events'], { ...filter, category: 'tool_api', since: at, until })}
                  aria-label={words}
                  title={words}
                >
                  <span class="of-calls" style={height(calls - errors - denials)} />
                  <span class="of-errors" style={height(errors)} />
                  <span class="of-denials" style={height(denials)} />
                </a>
              )}
            </li>
          );
        })}
      </ol>
      <p class="faint day-range">
        <span>{days[0]?.at.slice(0, 10)}</span>
        <span class="mark-legend">
          <span>
            <span class="swatch of-errors" aria-hidden="true" /> failed
          </span>{' '}
          <span>
            <span class="swatch of-denials" aria-hidden="true" /> denied
          </span>
        </span>
        <span>today</span>
      </p>
    </Panel>
  );
}

/** Bars of the highest score of each day. Each is a link to the sessions of the day, riskiest first. */
function RiskTrend({ days, agentId }: { days: readonly RiskOfDay[]; agentId: string }) {
  const highest = Math.max(0, ...days.map(({ score }) => score ?? 0));
  return (
    <Panel title="Risk by day (UTC)">
      {highest === 0 ? (
        <p class="empty">No session of these days scores 1 or more.</p>
      ) : (
        <ol class="day-bars risk-bars">
          {days.map(({ at, score }) => {
            const words = `${at.slice(0, 10)}: highest score ${score}`;
            const until = new Date(Date.parse(at) + dayMs).toISOString();
            return (
              <li key={at}>
                {score !== null && (
                  <a
                    href={href(['sessions'], { agent: agentId, since: at, until, order: 'risk' })}
                    aria-label={words}
                    title={words}
                  >
                    <span class={`of-risk level-${riskLevelOf(score)}`} style={{ height: `${score}%` }} />
                  </a>
                )}
              </li>
            );
          })}
        </ol>
      )}
      <p class="faint day-range">
        <span>{days[0]?.at.slice(0, 10)}</span>
        <span>highest score, of 100</span>
        <span>today</span>
      </p>
    </Panel>
  );
}

/** Hours of the day in which calls are usual, and the state of the agent's baseline. */
function Usual({
  report: { recent, learnedSessions, isVerified },
  kind,
}: {
  report: NamedActivityReport;
  kind: Kind;
}) {
  const most = Math.max(1, ...recent.hours);
  return (
    <Panel title="Usual hours (UTC)">
      {recent.calls === 0 ? (
        <p class="empty">No tool call.</p>
      ) : (
        <>
          <ol class="day-bars hours">
            {recent.hours.map((count, hour) => (
              <li key={hour} title={`${hour}:00: ${countText(count)} calls`}>
                <span class="of-calls" style={{ height: `${(count / most) * 100}%` }} />
              </li>
            ))}
          </ol>
          <p class="faint day-range">
            <span>0:00</span>
            <span>12:00</span>
            <span>23:00</span>
          </p>
          <p class="faint">
            Of the newest {countText(recent.calls)} calls, since <Time at={recent.since} />.
          </p>
        </>
      )}
      {kind === 'agent' && (
        <p class="faint">
          {learnedSessions === 0
            ? 'The baseline has learned from no session yet, so nothing counts as usual for the risk.'
            : `The baseline that the risk is compared with has learned from ${countText(learnedSessions ?? 0)} sessions.`}
          {isVerified !== null &&
            (isVerified
              ? ' A token verified the agent of its newest call.'
              : ' No token verifies this agent: any key that may act as it can use its name.')}
        </p>
      )}
    </Panel>
  );
}

/** Tools of an agent, or agents of a tool, among the newest calls. */
function Names({ report: { recent }, others }: { report: NamedActivityReport; others: 'tools' | 'agents' }) {
  const title = others === 'tools' ? 'Usual tools' : 'Agents that call it';
  if (recent.calls === 0) return null;
  return (
    <Panel title={title}>
      <NameTable caption={title} place={others} names={recent.names} />
      {recent.nameCount > recent.names.length && (
        <p class="faint">
          The first {recent.names.length} of {countText(recent.nameCount)}.
        </p>
      )}
    </Panel>
  );
}

function NameTable({
  caption,
  place,
  names,
}: {
  caption: string;
  place: 'tools' | 'agents';
  names: readonly NamedActivity[];
}) {
  return (
    <PanelTable
      caption={caption}
      columns={[
        { title: place === 'tools' ? 'Tool' : 'Agent' },
        { title: 'Calls', isNumber: true },
        { title: 'Failed', isNumber: true },
        { title: 'Denied', isNumber: true },
        { title: 'Share', isNumber: true, importance: 'second' },
      ]}
    >
      {names.map(({ name, calls, errors, denials }) => (
        <tr key={name}>
          <th scope="row">
            <a class="one-line" href={href([place, name])} title={name}>
              {name}
            </a>
          </th>
          <td class="number">{countText(calls)}</td>
          <td class={`number ${errors > 0 ? 'mark-error' : 'faint'}`}>{countText(errors)}</td>
          <td class={`number ${denials > 0 ? 'mark-denied' : 'faint'}`}>{countText(denials)}</td>
          <td class="number second faint">{shareText(errors + denials, calls)}</td>
        </tr>
      ))}
    </PanelTable>
  );
}

const effectWords = { allow: 'allow', deny: 'deny', require_approval: 'ask a person' } as const;

/** Priority from which on a policy only decides what no other one decides. */
const fallbackPriority = -1000;

function Policies({ policies, kind }: { policies: readonly ApplyingPolicy[]; kind: Kind }) {
  return (
    <Panel title="Policies that apply" to={href(['policies'])}>
      {policies.length === 0 ? (
        <p class="empty">No policy names this {kind}, so everything is allowed.</p>
      ) : (
        <PanelTable
          caption="Policies that apply"
          columns={[
            { title: 'Policy' },
            { title: 'Effect' },
            { title: 'Priority', isNumber: true, importance: 'second' },
          ]}
        >
          {policies.map(({ id, name, effect, mode, priority }) => (
            <tr key={id}>
              <th scope="row">
                <a class="one-line long" href={href(['policies', id])} title={name}>
                  {name}
                </a>
              </th>
              <td>
                <span class={`badge effect-${effect}`}>{effectWords[effect]}</span>{' '}
                {mode === 'log_only' && <span class="badge">only logged</span>}
              </td>
              <td class="number second">
                {priority <= fallbackPriority && <span class="faint">fallback </span>}
                {priority}
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
      <p class="faint">
        By their names of agents and tools; their conditions, rates and schedules may narrow them.
      </p>
    </Panel>
  );
}

function Keys({ keys }: { keys: NonNullable<NamedActivityReport['keys']> }) {
  return (
    <Panel title="Keys" to={href(['keys'])}>
      {keys.length === 0 ? (
        <p class="empty">No key has acted as this agent.</p>
      ) : (
        <PanelTable
          caption="Keys that acted as this agent"
          columns={[{ title: 'Key' }, { title: 'May act as' }, { title: 'Last used', importance: 'second' }]}
        >
          {keys.map(({ id, name, agents, lastUsedAt }) => (
            <tr key={id}>
              <th scope="row">
                <span class="one-line" title={id}>
                  {name}
                </span>
              </th>
              <td>{agents === null ? <span class="badge warn">any agent</span> : agents.join(', ')}</td>
              <td class="second">
                <Time at={lastUsedAt} />
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
    </Panel>
  );
}

function Calls({
  title,
  calls,
  kind,
  to,
}: {
  title: string;
  calls: readonly StoredEvent[];
  kind: Kind;
  to: string;
}) {
  return (
    <Panel title={title} to={to}>
      {calls.length === 0 ? (
        <p class="empty">No tool call.</p>
      ) : (
        <PanelTable
          caption={title}
          columns={[
            { title: 'When' },
            { title: kind === 'agent' ? 'Tool' : 'Agent' },
            { title: 'Outcome' },
            { title: 'Session', importance: 'second' },
          ]}
        >
          {calls.map((event) => (
            <tr key={event.eventId}>
              <td>
                <Time at={event.sourceTimestamp} />
              </td>
              <th scope="row">
                <a
                  class="one-line"
                  href={href(['sessions', event.sessionId ?? ''], { event: event.eventId })}
                >
                  {kind === 'agent' ? eventSubject(event) : event.agentId}
                </a>
              </th>
              <td>
                <Outcome payload={event.payload} />
              </td>
              <td class="second">
                <a class="one-line" href={href(['sessions', event.sessionId ?? ''])} title={event.sessionId}>
                  {event.sessionId}
                </a>
              </td>
            </tr>
          ))}
        </PanelTable>
      )}
    </Panel>
  );
}

/** Outcome of an event: the status of a call, or a decision. */
export function Outcome({ payload }: { payload: StoredEvent['payload'] }) {
  const { responseStatus: status, decision } = payload ?? {};
  if (typeof status !== 'number') return typeof decision === 'string' ? <span>{decision}</span> : null;
  if (status === deniedStatus) return <span class="badge mark-denied">denied</span>;
  return <span class={`badge ${status >= 400 ? 'mark-error' : 'good'}`}>{status}</span>;
}

/** Columns of the saved file of agents or tools. */
const nameColumns: CsvColumns<NamedActivity> = {
  name: ({ name }) => name,
  calls: ({ calls }) => calls,
  failed: ({ errors }) => errors,
  denied: ({ denials }) => denials,
};

/** Calls that are counted under no name, because each hour counts a limited number of names. */
export function Others({ of }: { of: NamedActivityList['others'] | undefined }) {
  if (of === undefined || of.calls === 0) return null;
  return (
    <span class="faint">
      and others with {countText(of.calls)} calls, {countText(of.errors + of.denials)} failed or denied: an
      hour counts 40 names
    </span>
  );
}

/** Page with the tools that agents call, most calls first. */
export function Tools({ query }: { query: URLSearchParams }) {
  const { client } = useConnection();
  const part = query.get('name') ?? '';
  const order = query.get('order') ?? '';
  const { data, error, reload } = useLoaded(
    'tools',
    (signal) =>
      client.request<NamedActivityList>('GET', '/server/v1/activity', {
        query: { kind: 'tool', limit: 500 },
        signal,
      }),
    { everyMs: reloadMs },
  );
  const form = useFilterForm({ name: part, order });
  const failed = ({ calls, errors, denials }: NamedActivity) => (errors + denials) / calls;
  const names = (data?.items ?? [])
    .filter(({ name }) => name.toLowerCase().includes(part.toLowerCase()))
    // Tools that never failed do not stand out.
    .filter((tool) => order !== 'failed' || failed(tool) > 0);
  if (order === 'failed') names.sort((left, right) => failed(right) - failed(left));
  if (order === 'name') names.sort((left, right) => (left.name < right.name ? -1 : 1));
  return (
    <>
      <h1>Tools</h1>
      <p class="faint">Tools that agents called in the last 30 days.</p>
      <search>
        <form
          ref={form}
          class="filters"
          onSubmit={submitted((fields) => {
            location.hash = href(['tools'], trimmed(fields));
          })}
        >
          <Field label="Name contains">
            <input name="name" placeholder="any" autocomplete="off" spellcheck={false} />
          </Field>
          <Field label="Order">
            <select name="order" onChange={({ currentTarget }) => currentTarget.form?.requestSubmit()}>
              <option value="">most calls first</option>
              <option value="failed">highest share of failures first</option>
              <option value="name">by name</option>
            </select>
          </Field>
          <button type="submit">Filter</button>
        </form>
      </search>
      <Problem error={error} onRetry={reload} />
      {data === undefined && error === undefined && <Loading />}
      {data?.items.length === 0 && (
        <EmptyState icon={Wrench} title="No agent has called a tool in the last 30 days.">
          <p>Each tool appears here with its first call.</p>
        </EmptyState>
      )}
      {data !== undefined && data.items.length > 0 && names.length === 0 && (
        <p class="empty">No tool matches.</p>
      )}
      {names.length > 0 && (
        <>
          <div class="list-tools">
            <span class="faint">{countText(names.length)} tools</span>
            <Others of={data?.others} />
            <SaveList
              name="tools"
              columns={nameColumns}
              list={async () => ({ items: names, nextCursor: null, hasNextPage: () => false })}
            />
          </div>
          <div class="panel">
            <NameTable caption="Tools" place="tools" names={names} />
          </div>
        </>
      )}
    </>
  );
}
