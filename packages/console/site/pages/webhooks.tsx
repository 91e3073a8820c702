import type { NotificationChannel, NotificationChannelCreated, WebhookEventType } from '@actlog/client';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { useAction } from '../hooks/use-action.ts';
import { useList } from '../hooks/use-list.ts';
import { hasKnownOwner, may } from '../identity.ts';
import { Checks } from '../parts/checks.tsx';
import { Field, submitted } from '../parts/field.tsx';
import { Secret } from '../parts/keys/secret.tsx';
import { Problem } from '../parts/problem.tsx';
import { LogList } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { WebhookStatus } from '../parts/webhooks/webhook-actions.tsx';
import { href } from '../route.ts';

const kinds: Readonly<Record<WebhookEventType, string>> = {
  'guardian.action_pending': 'An action waits for approval',
  'guardian.action_decided': 'An action was decided',
  'policy.matched': 'A policy matched an action',
  'session.risk_raised': 'The risk of a session rose a level',
};

/** Page with the webhooks and a form to create one. */
export function Webhooks() {
  const { client, identity } = useConnection();
  const [created, setCreated] = useState<NotificationChannelCreated>();
  const shown = useList('webhooks', (page, signal) => client.notificationChannels.list(page, { signal }), {
    everyMs: 10_000,
  });
  const create = useAction(async ({ fields, form }: { fields: FormData; form: HTMLFormElement }) => {
    const events = fields.getAll('events') as WebhookEventType[];
    const url = String(fields.get('url')).trim();
    setCreated(await client.notificationChannels.create({ url, ...(events.length > 0 && { events }) }));
    form.reset();
    shown.reload();
  });
  return (
    <>
      <h1>Webhooks</h1>
      {created?.secret !== undefined && (
        <Secret
          label={`Signing secret of ${created.url}`}
          value={created.secret}
          onDone={() => setCreated(undefined)}
        />
      )}
      <LogList
        shown={shown}
        label="Webhooks, newest first"
        empty="No webhook yet. One tells you when an action waits for approval or the risk of a session rises."
        item={(channel) => (
          <WebhookItem key={channel.id} channel={channel} hasPage={hasKnownOwner(identity)} />
        )}
      />
      {may(identity, 'manage') && (
        <section aria-labelledby="new">
          <h2 id="new">New webhook</h2>
          <form class="grid" onSubmit={submitted((fields, form) => create.run({ fields, form }))}>
            <Field label="Address" hint="Deliveries are signed according to Standard Webhooks.">
              <input name="url" type="url" required maxLength={2000} placeholder="https://" />
            </Field>
            <Checks label="Events (none chosen: all)" name="events" options={kinds} />
            <p class="buttons">
              <button type="submit" aria-disabled={create.isBusy}>
                Create
              </button>
            </p>
          </form>
          <Problem error={create.error} />
        </section>
      )}
    </>
  );
}

function failuresText(count: number): string {
  return count === 1 ? '1 failed attempt' : `${count} failed attempts`;
}

/** A webhook in the list: its state, its address and what it receives. */
function WebhookItem({
  channel,
  hasPage,
}: {
  channel: NotificationChannel;
  /** `true` if the service has a page for it. */
  hasPage: boolean;
}) {
  const { id, url, status, events = [], failureCount, lastDeliveryAt } = channel;
  return (
    <li id={`webhook-${id}`}>
      <p>
        <WebhookStatus status={status} failureCount={failureCount} />{' '}
        {hasPage ? <a href={href(['webhooks', id])}>{url}</a> : <strong>{url}</strong>}
      </p>
      <p>{events.join(', ')}</p>
      <p class="faint">
        Last delivery <Time at={lastDeliveryAt} />
        {failureCount ? <>, since then {failuresText(failureCount)}</> : null}
        {' · '}
        {id}
      </p>
    </li>
  );
}
