import {
  type AlertRule,
  type Channel,
  type ChannelEvent,
  type ChannelKind,
  createAlertRule,
  createChannel,
  deleteAlertRule,
  deleteChannel,
  listAlertRules,
  listChannels,
  muteAlertRule,
  muteChannel,
  type NewChannel,
  testChannel,
} from '@actlog/client/server';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { may } from '../identity.ts';
import { Checks } from '../parts/checks.tsx';
import { ConfirmButton } from '../parts/confirm-button.tsx';
import { Choice, Field, submitted } from '../parts/field.tsx';
import { Problem } from '../parts/problem.tsx';
import { Time } from '../parts/time.tsx';
import { canPush, readPushState, subscribe, unsubscribe } from '../push-notice.ts';

const kindNames: Readonly<Record<ChannelKind, string>> = {
  slack: 'Slack',
  mail: 'Mail',
  teams: 'Microsoft Teams',
  push: 'Notifications in browsers',
};

const eventNames: Readonly<Record<ChannelEvent, string>> = {
  held: 'An action waits for approval',
  decided: 'An action was decided',
  alert: 'Alerts',
};

/** Minutes for which a press mutes something. */
const muteMinutes = 60;

/** Page with the channels in which people hear of held actions and alerts. */
export function Channels() {
  const { client, identity } = useConnection();
  const mayManage = may(identity, 'manage');
  const [news, setNews] = useState('');
  const channels = useLoaded('channels', (signal) => listChannels(client, { signal }), { everyMs: 5000 });
  const rules = useLoaded('alert rules', (signal) => listAlertRules(client, { signal }), { everyMs: 10_000 });
  const change = useAction(async (act: () => PromiseLike<string>) => {
    setNews('');
    setNews(await act());
    channels.reload();
    rules.reload();
  });
  const { items = [], kinds = [] } = channels.data ?? {};
  return (
    <>
      <h1>Channels</h1>
      <p class="faint">People hear of held actions and alerts here. Programs are told by webhooks.</p>
      <Problem error={channels.error} onRetry={channels.reload} />
      {channels.data !== undefined && items.length === 0 && (
        <p class="empty">
          No channel yet. One asks people for approvals where they are: in Slack, by mail, on a phone.
        </p>
      )}
      <ul class="log" aria-label="Channels">
        {items.map((channel) => (
          <ChannelItem
            key={channel.id}
            channel={channel}
            mayManage={mayManage}
            isBusy={change.isBusy}
            onChange={(act) => change.run(act)}
          />
        ))}
      </ul>
      <Problem error={change.error} />
      <p role="status" class={news && 'news'}>
        {news}
      </p>
      {mayManage && (
        <NewChannelForm
          kinds={kinds}
          onCreated={(name) => {
            setNews(`${name} was added. Send a test message to see that it works.`);
            channels.reload();
          }}
        />
      )}
      <AlertRules
        rules={rules.data?.items}
        error={rules.error}
        mayManage={mayManage}
        isBusy={change.isBusy}
        onChange={(act) => change.run(act)}
        onCreated={rules.reload}
      />
      {identity.role !== undefined && <OwnBrowsers />}
    </>
  );
}

type OnChange = (act: () => PromiseLike<string>) => void;

/** Returns what a channel receives and when, in words. */
function rulesText({ rules }: Channel): string {
  const { events, agents, tools, policies, groups, afterMinutes, remindMinutes, quietHours } = rules;
  const only = (name: string, list: readonly string[]) =>
    list.length === 0 ? [] : [`${name} ${list.join(', ')}`];
  return [
    events.map((event) => eventNames[event].toLowerCase()).join(', '),
    ...only('agents', agents),
    ...only('tools', tools),
    ...only('policies', policies),
    ...only('groups', groups),
    ...(afterMinutes > 0 ? [`after ${afterMinutes} minutes without a decision`] : []),
    ...(remindMinutes === null ? [] : [`reminder ${remindMinutes} minutes before the expiry`]),
    ...(quietHours === null
      ? []
      : [`quiet from ${quietHours.from} to ${quietHours.to} ${quietHours.timeZone}`]),
  ].join(' · ');
}

/** Returns where a channel sends to, in words. */
function placeText({ kind, settings }: Channel): string {
  if (kind === 'slack') return String(settings.channel);
  if (kind === 'mail') return (settings.to as readonly string[]).join(', ');
  return '';
}

function ChannelItem({
  channel,
  mayManage,
  isBusy,
  onChange,
}: {
  channel: Channel;
  mayManage: boolean;
  isBusy: boolean;
  onChange: OnChange;
}) {
  const { client } = useConnection();
  const { id, kind, name, status, mutedUntil, failingSince, lastError, lastDeliveryAt } = channel;
  const state = status === 'disabled' ? 'disabled' : failingSince === null ? 'active' : 'failing';
  return (
    <li id={`channel-${id}`}>
      <p>
        <span class={`badge ${state === 'active' ? 'good' : 'bad'}`}>{state}</span>{' '}
        {mutedUntil !== null && <span class="badge warn">muted</span>}{' '}
        <strong translate={false}>{name}</strong>{' '}
        <span class="faint">
          {kindNames[kind]} <span translate={false}>{placeText(channel)}</span>
        </span>
      </p>
      <p>{rulesText(channel)}</p>
      {lastError !== null && <p class="warn">Last failure: {lastError}.</p>}
      <p class="faint">
        Last delivery <Time at={lastDeliveryAt} />
        {mutedUntil !== null && (
          <>
            , muted until <Time at={mutedUntil} />
          </>
        )}
      </p>
      {mayManage && (
        <p class="buttons">
          <button
            type="button"
            class="quiet"
            aria-disabled={isBusy}
            onClick={() =>
              onChange(async () => {
                await testChannel(client, id);
                return `A test message to ${name} is on its way.`;
              })
            }
          >
            Send a test message<span class="hidden"> to {name}</span>
          </button>
          <MuteButton
            name={name}
            mutedUntil={mutedUntil}
            isBusy={isBusy}
            onChange={onChange}
            mute={(minutes) => muteChannel(client, id, minutes)}
          />
          <ConfirmButton
            label="Remove"
            question={`Remove ${name} with its log`}
            isBusy={isBusy}
            onConfirm={() =>
              onChange(async () => {
                await deleteChannel(client, id);
                return `${name} was removed.`;
              })
            }
          />
        </p>
      )}
    </li>
  );
}

/** Button that mutes a channel or a rule for a while, or ends that. */
function MuteButton({
  name,
  mutedUntil,
  isBusy,
  onChange,
  mute,
}: {
  name: string;
  mutedUntil: string | null;
  isBusy: boolean;
  onChange: OnChange;
  /** @param minutes - null ends it */
  mute: (minutes: number | null) => Promise<unknown>;
}) {
  const isMuted = mutedUntil !== null;
  return (
    <button
      type="button"
      class="quiet"
      aria-disabled={isBusy}
      onClick={() =>
        onChange(async () => {
          await mute(isMuted ? null : muteMinutes);
          return isMuted ? `${name} is no longer muted.` : `${name} is muted for an hour.`;
        })
      }
    >
      {isMuted ? 'Unmute' : 'Mute for an hour'}
      <span class="hidden"> {name}</span>
    </button>
  );
}

function listIn(fields: FormData, name: string): string[] {
  return String(fields.get(name) ?? '')
    .split(/[\s,]+/)
    .filter(Boolean);
}

/** Returns the channel of a form. */
function draftOf(kind: ChannelKind, fields: FormData): NewChannel {
  const settings = {
    slack: () => ({ channel: String(fields.get('channel')).trim() }),
    mail: () => ({ to: listIn(fields, 'to') }),
    teams: () => ({ url: String(fields.get('url')).trim() }),
    push: () => ({}),
  }[kind]();
  const zone = String(fields.get('timeZone') ?? '').trim();
  const events = fields.getAll('events') as ChannelEvent[];
  const remind = String(fields.get('remind') ?? '');
  return {
    kind,
    name: String(fields.get('name')).trim(),
    settings,
    rules: {
      ...(events.length > 0 && { events }),
      agents: listIn(fields, 'agents'),
      tools: listIn(fields, 'tools'),
      groups: listIn(fields, 'groups'),
      afterMinutes: Number(fields.get('after') || 0),
      remindMinutes: remind === '' ? null : Number(remind),
      quietHours:
        zone === ''
          ? null
          : {
              timeZone: zone,
              from: String(fields.get('from')),
              to: String(fields.get('to')),
              delaysHeldActions: fields.has('delaysHeldActions'),
            },
    },
  };
}

function NewChannelForm({
  kinds,
  onCreated,
}: {
  kinds: readonly { readonly kind: ChannelKind; readonly problem: string | null }[];
  onCreated: (name: string) => void;
}) {
  const { client } = useConnection();
  const [kind, setKind] = useState<ChannelKind>('slack');
  const problem = kinds.find((one) => one.kind === kind)?.problem ?? null;
  const create = useAction(async ({ fields, form }: { fields: FormData; form: HTMLFormElement }) => {
    const { name } = await createChannel(client, draftOf(kind, fields));
    form.reset();
    onCreated(name);
  });
  return (
    <section aria-labelledby="new-channel">
      <h2 id="new-channel">New channel</h2>
      <form class="grid" onSubmit={submitted((fields, form) => create.run({ fields, form }))}>
        <Choice
          label="Kind"
          name="kind"
          options={kindNames}
          value={kind}
          onChange={(value) => setKind(value as ChannelKind)}
        />
        <Field label="Name">
          <input name="name" required maxLength={200} placeholder="On call" />
        </Field>
        {kind === 'slack' && (
          <Field
            label="Id of the Slack channel"
            hint="In Slack: the channel’s details, at the end. Invite the app to it."
          >
            <input name="channel" required pattern="[CGD][A-Z0-9]+" placeholder="C0123456789" />
          </Field>
        )}
        {kind === 'mail' && (
          <Field label="Addresses" hint="Separated by spaces or commas.">
            <input name="to" required placeholder="oncall@example.com" />
          </Field>
        )}
        {kind === 'teams' && (
          <Field label="Address of the workflow" hint="It is stored encrypted, and not shown again.">
            <input name="url" type="url" required maxLength={2000} autocomplete="off" />
          </Field>
        )}
        <Checks label="Receives" name="events" options={eventNames} checked={['held', 'alert']} />
        <Field label="Only agents" hint="Patterns such as billing*. Empty: any.">
          <input name="agents" />
        </Field>
        <Field label="Only tools" hint="Patterns such as refund*. Empty: any.">
          <input name="tools" />
        </Field>
        <Field label="Groups it reaches" hint="For policies that only certain groups may approve.">
          <input name="groups" />
        </Field>
        <Field label="After minutes without a decision" hint="0: at once.">
          <input name="after" type="number" min={0} max={10_080} value="0" />
        </Field>
        <Field label="Reminder, minutes before the expiry" hint="Empty: none.">
          <input name="remind" type="number" min={1} max={10_080} value="5" />
        </Field>
        <Field label="Time zone of quiet hours" hint="Alerts wait for their end. Empty: no quiet hours.">
          <input name="timeZone" placeholder="Europe/Berlin" />
        </Field>
        <Field label="Quiet from">
          <input name="from" type="time" value="22:00" />
        </Field>
        <Field label="Quiet to">
          <input name="to" type="time" value="07:00" />
        </Field>
        <label class="check">
          <input type="checkbox" name="delaysHeldActions" />
          <span>Held actions wait for the end of quiet hours, too</span>
        </label>
        {problem !== null && <p class="warn row">Not available: {problem}.</p>}
        <p class="buttons">
          <button type="submit" aria-disabled={create.isBusy || problem !== null}>
            Add
          </button>
        </p>
      </form>
      <Problem error={create.error} />
    </section>
  );
}

const alertNames: Readonly<Record<AlertRule['kind'], string>> = {
  risk: 'A session reaches a level of risk',
  denied: 'Calls are denied',
  error: 'Calls fail',
  new_tool: 'An agent calls a tool for the first time',
};

const levels = { low: 'low', medium: 'medium', high: 'high', critical: 'critical' };

function ruleText({ kind, level, agents, tools, count, windowMinutes }: AlertRule): string {
  return [
    kind === 'risk' ? `${alertNames.risk}: ${level} or above` : alertNames[kind],
    ...(count > 1 ? [`${count} times within ${windowMinutes} minutes`] : []),
    ...(agents.length > 0 ? [`agents ${agents.join(', ')}`] : []),
    ...(tools.length > 0 ? [`tools ${tools.join(', ')}`] : []),
  ].join(' · ');
}

function AlertRules({
  rules,
  error,
  mayManage,
  isBusy,
  onChange,
  onCreated,
}: {
  rules: readonly AlertRule[] | undefined;
  error: unknown;
  mayManage: boolean;
  isBusy: boolean;
  onChange: OnChange;
  onCreated: () => void;
}) {
  const { client } = useConnection();
  const create = useAction(async ({ fields, form }: { fields: FormData; form: HTMLFormElement }) => {
    await createAlertRule(client, {
      name: String(fields.get('name')).trim(),
      kind: fields.get('kind') as AlertRule['kind'],
      level: fields.get('level') as AlertRule['level'],
      agents: listIn(fields, 'agents'),
      tools: listIn(fields, 'tools'),
      count: Number(fields.get('count') || 1),
      windowMinutes: Number(fields.get('window') || 60),
    });
    form.reset();
    onCreated();
  });
  return (
    <section aria-labelledby="alerts">
      <h2 id="alerts">Alerts</h2>
      <p class="faint">One message for each cause: what recurs within the window is counted.</p>
      <Problem error={error} />
      {rules?.length === 0 && <p class="empty">No rule yet.</p>}
      <ul class="log" aria-label="Rules of alerts">
        {rules?.map((rule) => (
          <li key={rule.id} id={`alert-${rule.id}`}>
            <p>
              {rule.mutedUntil !== null && <span class="badge warn">muted</span>} <strong>{rule.name}</strong>{' '}
              <span class="faint">{ruleText(rule)}</span>
            </p>
            {mayManage && (
              <p class="buttons">
                <MuteButton
                  name={rule.name}
                  mutedUntil={rule.mutedUntil}
                  isBusy={isBusy}
                  onChange={onChange}
                  mute={(minutes) => muteAlertRule(client, rule.id, minutes)}
                />
                <ConfirmButton
                  label="Remove"
                  question={`Remove ${rule.name}`}
                  isBusy={isBusy}
                  onConfirm={() =>
                    onChange(async () => {
                      await deleteAlertRule(client, rule.id);
                      return `${rule.name} was removed.`;
                    })
                  }
                />
              </p>
            )}
          </li>
        ))}
      </ul>
      {mayManage && (
        <form class="grid" onSubmit={submitted((fields, form) => create.run({ fields, form }))}>
          <Field label="Name of the rule">
            <input name="name" required maxLength={200} placeholder="Many denials" />
          </Field>
          <Choice label="When" name="kind" options={alertNames} value="denied" />
          <Choice label="Level of risk" name="level" options={levels} value="high" />
          <Field label="Only agents" hint="Patterns. Empty: any.">
            <input name="agents" />
          </Field>
          <Field label="Only tools" hint="Patterns. Empty: any.">
            <input name="tools" />
          </Field>
          <Field label="From this number of calls">
            <input name="count" type="number" min={1} max={1000} value="1" />
          </Field>
          <Field label="Within minutes">
            <input name="window" type="number" min={1} max={10_080} value="60" />
          </Field>
          <p class="buttons">
            <button type="submit" aria-disabled={create.isBusy}>
              Add the rule
            </button>
          </p>
        </form>
      )}
      <Problem error={create.error} />
    </section>
  );
}

/** The browsers in which the user gets notifications, also while the console is closed. */
function OwnBrowsers() {
  const { client } = useConnection();
  const { data, error, reload } = useLoaded('browsers', (signal) => readPushState(client, signal));
  const change = useAction(async (act: () => PromiseLike<unknown>) => {
    await act();
    reload();
  });
  return (
    <section aria-labelledby="browsers">
      <h2 id="browsers">Your browsers</h2>
      <p class="faint">
        They notify you of actions that you can approve, also while the console is closed. On a phone, add the
        console to the home screen first.
      </p>
      <Problem error={error} onRetry={reload} />
      {data?.isOffered === false && (
        <p class="warn">There is no channel for browsers yet. An administrator adds one above.</p>
      )}
      <ul class="log" aria-label="Your browsers">
        {data?.items.map(({ id, label, createdAt }) => (
          <li key={id} id={`browser-${id}`}>
            <p>
              <strong>{label}</strong>{' '}
              <span class="faint">
                since <Time at={createdAt} />
              </span>{' '}
              <button
                type="button"
                class="quiet"
                aria-disabled={change.isBusy}
                onClick={() => change.run(() => unsubscribe(client, id))}
              >
                Remove<span class="hidden"> {label}</span>
              </button>
            </p>
          </li>
        ))}
      </ul>
      {!canPush() && <p class="faint">This browser cannot show notifications of a closed page.</p>}
      {canPush() && data !== undefined && (
        <button
          type="button"
          aria-disabled={change.isBusy}
          onClick={() => change.run(() => subscribe(client, data.publicKey))}
        >
          Notify me in this browser
        </button>
      )}
      <Problem error={change.error} />
    </section>
  );
}
