import type { PendingAction } from '@actlog/client';
import type { NamedActivity, RiskySession, WebhookHealth } from '@actlog/protocol';
import type { ComponentChildren } from 'preact';
import { countText, shareText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { RiskScore } from '../risk/risk-score.tsx';
import { ActingAgent, Time } from '../time.tsx';

/** A column: its title, and the class that hides it where there is little room. */
export interface PanelColumn {
  readonly title: string;
  readonly isNumber?: boolean;
  /** `second` and `third` columns are hidden in a narrow panel. */
  readonly importance?: 'second' | 'third';
}

function headClass({ isNumber, importance }: PanelColumn): string {
  return [isNumber && 'number', importance].filter(Boolean).join(' ');
}

/** Table that fits its panel: it hides less important columns instead of scrolling. */
function PanelTable({
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
export function Outliers({ kind, rows }: { kind: 'agent' | 'tool'; rows: readonly NamedActivity[] }) {
  const title = kind === 'agent' ? 'Agents that stand out' : 'Tools that stand out';
  const noun = kind === 'agent' ? 'Agent' : 'Tool';
  return (
    <section class="panel" aria-labelledby={`outliers-${kind}`}>
      <h2 id={`outliers-${kind}`}>{title}</h2>
      {rows.length === 0 ? (
        <p class="empty">No tool call in this time.</p>
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
          {rows.map(({ name, calls, errors, denials }) => (
            <tr key={name}>
              <th scope="row">
                <a class="brief" href={href(['sessions'], { [kind]: name })}>
                  {name}
                </a>
              </th>
              <td class="number">{countText(calls)}</td>
              <td class={`number ${errors > 0 ? 'bad' : 'faint'}`}>{countText(errors)}</td>
              <td class={`number ${denials > 0 ? 'warn' : 'faint'}`}>{countText(denials)}</td>
              <td class="number second faint">{shareText(errors + denials, calls)}</td>
            </tr>
          ))}
        </PanelTable>
      )}
    </section>
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

const waitingColumns = [
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
          <PanelTable caption="Newest actions that wait for approval" columns={waitingColumns}>
            {actions.map(
              ({ id, action, agentId, subagent, parentAgentIds, identity, createdAt, expiresAt }) => (
                <tr key={id}>
                  <th scope="row">
                    <a class="brief" href={href(['approvals'])}>
                      {action?.toolName}
                    </a>
                  </th>
                  <td class="second">
                    <span class="brief">
                      <ActingAgent {...{ agentId, subagent, parentAgentIds, identity }} />
                    </span>
                  </td>
                  <td class="third">
                    <Time at={createdAt} />
                  </td>
                  <td>
                    <Time at={expiresAt} />
                  </td>
                </tr>
              ),
            )}
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
