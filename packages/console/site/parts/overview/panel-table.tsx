import type { NamedActivity, RiskySession, WebhookHealth } from '@actlog/protocol';
import type { ComponentChildren } from 'preact';
import { countText, shareText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { RiskScore } from '../risk/risk-score.tsx';
import { Time } from '../time.tsx';

/** A column: its title, and the class that hides it where there is little room. */
interface PanelColumn {
  readonly title: string;
  readonly isNumber?: boolean;
  /** `second` and `third` columns are hidden in a narrow panel. */
  readonly importance?: 'second' | 'third';
}

function headClass({ isNumber, importance }: PanelColumn): string {
  return [isNumber && 'number', importance].filter(Boolean).join(' ');
}

/** Table that fits its panel: it hides less important columns instead of scrolling. */
export function PanelTable({
  caption,
  columns,
  children,
}: {
  /** Caption of the table for screen readers. */
  caption: string;
  columns: readonly PanelColumn[];
  /** Rows. */
  children: ComponentChildren;
}) {
  return (
    <div class="fits">
      <table>
        <caption class="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column.title} scope="col" class={headClass(column)}>
                {column.title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

/** Agents or tools with the most errors and denials. */
export function Outliers({
  kind,
  rows,
  range,
}: {
  kind: 'agent' | 'tool';
  rows: readonly NamedActivity[];
  /** Span of time in the address of a list. */
  range: Readonly<Record<string, string>>;
}) {
  const failing = rows.filter(({ errors, denials }) => errors + denials > 0);
  const filter = (name: string) => ({ [kind === 'agent' ? 'agentId' : 'toolName']: name, ...range });
  const title = kind === 'agent' ? 'Agents that stand out' : 'Tools that stand out';
  const noun = kind === 'agent' ? 'Agent' : 'Tool';
  return (
    <section class="panel" aria-labelledby={`outliers-${kind}`}>
      <h2 id={`outliers-${kind}`}>{title}</h2>
      {failing.length === 0 ? (
        <p class="empty">No call failed or was denied in this time.</p>
      ) : (
        <PanelTable
          caption={`${title}: most errors and denials first`}
          columns={[
            { title: noun },
            { title: 'Calls', isNumber: true },
            { title: 'Errors', isNumber: true },
            { title: 'Denials', isNumber: true },
            { title: 'Failed', isNumber: true, importance: 'second' },
          ]}
        >
          {failing.map(({ name, calls, errors, denials }) => (
            <tr key={name}>
              <th scope="row">
                <a class="brief" title={name} href={href([kind === 'agent' ? 'agents' : 'tools', name])}>
                  {name}
                </a>
              </th>
              <td class="number">
                <a href={href(['events'], filter(name))}>{countText(calls)}</a>
              </td>
              <td class="number">
                <Count of={errors} kind="error" to={href(['events'], { status: 'error', ...filter(name) })} />
              </td>
              <td class="number">
                <Count
                  of={denials}
                  kind="denied"
                  to={href(['events'], { status: 'denied', ...filter(name) })}
                />
              </td>
              <td class="number second faint">{shareText(errors + denials, calls)}</td>
            </tr>
          ))}
        </PanelTable>
      )}
    </section>
  );
}

/** Number of errors or denials, with a link to them. */
function Count({ of, kind, to }: { of: number; kind: 'error' | 'denied'; to: string }) {
  if (of === 0) return <span class="faint">0</span>;
  return (
    <a class={`mark-${kind}`} href={to}>
      {countText(of)}
    </a>
  );
}

const columns = [
  { title: 'Risk' },
  { title: 'Session' },
  { title: 'Agent', importance: 'second' },
  { title: 'Events', isNumber: true, importance: 'third' },
  { title: 'Errors', isNumber: true, importance: 'third' },
  { title: 'Started', importance: 'second' },
] as const;

/** Sessions with the highest scores. */
export function RiskiestSessions({
  sessions,
  range,
}: {
  sessions: readonly RiskySession[];
  /** Span of time in the address of a list. */
  range: Readonly<Record<string, string>>;
}) {
  return (
    <section class="panel risky" aria-labelledby="riskiest">
      <h2 id="riskiest">
        <a href={href(['sessions'], { ...range, order: 'risk' })}>Riskiest sessions</a>
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
                <a class="brief" title={id} href={href(['sessions', id])}>
                  {id}
                </a>
              </th>
              <td class="second">
                <a class="brief" title={agentId} href={href(['agents', agentId])}>
                  {agentId}
                </a>
              </td>
              <td class="number third">{countText(eventCount)}</td>
              <td class={`number third ${errorCount > 0 ? 'mark-error' : 'faint'}`}>
                {countText(errorCount)}
              </td>
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

const webhookColumns = [
  { title: 'Address' },
  { title: 'State' },
  { title: 'Waiting', isNumber: true, importance: 'second' },
  { title: 'Retrying', isNumber: true, importance: 'third' },
  { title: 'Last delivery', importance: 'third' },
] as const;

/** State of a webhook in a word, and its class. */
function stateOf({ status, failingSince }: WebhookHealth): readonly [string, string] {
  if (status === 'disabled') return ['disabled', 'bad'];
  return failingSince === null ? ['healthy', 'good'] : ['failing', 'bad'];
}

/** State of the deliveries to each webhook. */
export function WebhookStates({ webhooks }: { webhooks: readonly WebhookHealth[] }) {
  return (
    <section class="panel" aria-labelledby="webhooks">
      <h2 id="webhooks">
        <a href={href(['webhooks'])}>Webhooks</a>
      </h2>
      {webhooks.length === 0 ? (
        <p class="empty">
          No webhook yet. <a href={href(['webhooks'])}>Create one</a> to be notified of held actions and
          rising risk.
        </p>
      ) : (
        <PanelTable caption="State of webhooks" columns={webhookColumns}>
          {webhooks.map((webhook) => {
            const [state, tone] = stateOf(webhook);
            return (
              <tr key={webhook.id}>
                <th scope="row">
                  <a class="brief" href={href(['webhooks', webhook.id])}>
                    {webhook.url}
                  </a>
                </th>
                <td>
                  <span class={`badge ${tone}`}>{state}</span>
                </td>
                <td class="number second">{countText(webhook.waiting)}</td>
                <td class={`number third ${webhook.retrying > 0 ? 'bad' : ''}`}>
                  {countText(webhook.retrying)}
                </td>
                <td class="third">
                  <Time at={webhook.lastDeliveryAt} />
                </td>
              </tr>
            );
          })}
        </PanelTable>
      )}
    </section>
  );
}
