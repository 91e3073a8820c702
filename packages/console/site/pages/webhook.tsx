import {
  deleteWebhook,
  disableWebhook,
  enableWebhook,
  getWebhook,
  type RotatedWebhook,
  resendDelivery,
  rotateWebhookSecret,
  setWebhookRiskLevel,
  testWebhook,
} from '@actlog/client/server';
import type { WebhookDelivery, WebhookDeliveryPage, WebhookState } from '@actlog/protocol';
import { useState } from 'preact/hooks';
import { useConnection } from '../connection.ts';
import { countText } from '../count-text.ts';
import { useAction } from '../hooks/use-action.ts';
import { serverPages, useList } from '../hooks/use-list.ts';
import { useLoaded } from '../hooks/use-loaded.ts';
import { replacePlace } from '../hooks/visit.ts';
import { may } from '../identity.ts';
import { WayBack } from '../parts/empty-state.tsx';
import { Secret } from '../parts/keys/secret.tsx';
import { Problem } from '../parts/problem.tsx';
import { LogList } from '../parts/table.tsx';
import { Time } from '../parts/time.tsx';
import { WebhookActions, WebhookStatus } from '../parts/webhooks/webhook-actions.tsx';
import { href } from '../route.ts';

const statuses = ['all', 'failed', 'waiting', 'delivered'] as const;

const empties = {
  all: 'Nothing was sent yet. Send a test message to see that it arrives.',
  failed: 'No message failed.',
  waiting: 'No message waits.',
  delivered: 'No message was delivered.',
};

/** Page with one webhook: its state, its delivery log, and what can be done with it. */
export function Webhook({ id, query }: { id: string; query: URLSearchParams }) {
  const { client, identity } = useConnection();
  const [rotated, setRotated] = useState<RotatedWebhook>();
  const [news, setNews] = useState('');
  const status = statuses.find((known) => known === query.get('status')) ?? 'all';
  const { data, error, reload } = useLoaded(id, (signal) => getWebhook(client, id, { signal }), {
    everyMs: 5000,
  });
  const log = useList(
    `${id} ${status}`,
    serverPages<WebhookDeliveryPage>(
      client,
      `/server/v1/webhooks/${encodeURIComponent(id)}/deliveries`,
      status === 'all' ? {} : { status },
    ),
    { everyMs: 3000, nameOf: (delivery) => delivery.id },
  );
  const change = useAction(async (act: () => PromiseLike<string>) => {
    setNews('');
    setNews(await act());
    reload();
    log.reload();
  });
  const mayManage = may(identity, 'manage');
  return (
    <>
      <WayBack place="webhooks" title="Webhooks" />
      <h1 translate={false}>{data?.url ?? id}</h1>
      <Problem error={error} onRetry={reload} />
      {rotated !== undefined && (
        <Secret label="New signing secret" value={rotated.secret} onDone={() => setRotated(undefined)} />
      )}
      {data !== undefined && <WebhookSummary webhook={data} />}
      {data !== undefined && mayManage && (
        <WebhookActions
          webhook={data}
          isBusy={change.isBusy}
          onTest={() =>
            change.run(async () => {
              await testWebhook(client, id);
              return 'A test message is on its way. The log shows its outcome.';
            })
          }
          onSwitch={() =>
            change.run(async () => {
              const isActive = data.status === 'active';
              await (isActive ? disableWebhook : enableWebhook)(client, id);
              return isActive ? 'Disabled: nothing is sent any more.' : 'Enabled.';
            })
          }
          onRiskLevel={(level) =>
            change.run(async () => {
              await setWebhookRiskLevel(client, id, level);
              return `It is notified of sessions that rise to ${level} or above.`;
            })
          }
          onRotate={(overlapDays) =>
            change.run(async () => {
              setRotated(await rotateWebhookSecret(client, id, { overlapDays }));
              return '';
            })
          }
          onDelete={() =>
            change.run(async () => {
              await deleteWebhook(client, id);
              replacePlace(href(['webhooks']));
              return '';
            })
          }
        />
      )}
      <Problem error={change.error} />
      <p role="status" class={news && 'news'}>
        {news}
      </p>
      <h2>Deliveries</h2>
      <nav class="tabs" aria-label="Status">
        {statuses.map((name) => (
          <a
            key={name}
            href={href(['webhooks', id], { status: name === 'all' ? undefined : name })}
            aria-current={name === status ? 'true' : undefined}
          >
            {name}
          </a>
        ))}
      </nav>
      <LogList
        shown={log}
        label="Deliveries, newest first"
        empty={empties[status]}
        item={(delivery) => (
          <DeliveryItem
            key={delivery.id}
            delivery={delivery}
            isBusy={change.isBusy}
            onResend={
              mayManage && data?.status === 'active'
                ? () =>
                    change.run(async () => {
                      await resendDelivery(client, delivery.id);
                      return `${delivery.eventType} is on its way again.`;
                    })
                : undefined
            }
          />
        )}
      />
    </>
  );
}

const tones = { delivered: 'good', failed: 'bad', waiting: 'warn' } as const;

function attemptsText(attempts: number): string {
  return attempts === 1 ? '1 attempt' : `${attempts} attempts`;
}

/** Returns the outcome of the last attempt as a sentence. */
function outcomeText({ error, responseStatus, attempts, status, durationMs }: WebhookDelivery): string {
  const took = durationMs === null ? '' : ` after ${durationMs.toLocaleString('en-US')} ms`;
  if (error !== null) return `${error.slice(0, 1).toUpperCase()}${error.slice(1)}${took}.`;
  if (responseStatus !== null) return `The receiver responded with ${responseStatus}${took}.`;
  return status === 'waiting' && attempts === 0 ? 'Not attempted yet.' : 'No response was recorded.';
}

/** One message to a webhook: its state, the reason of a failure, and a button to send it again. */
function DeliveryItem({
  delivery,
  isBusy,
  onResend,
}: {
  delivery: WebhookDelivery;
  isBusy: boolean;
  /** Undefined if the user may not resend it. */
  onResend: (() => void) | undefined;
}) {
  const { id, status, eventType, attempts, createdAt, nextAttemptAt } = delivery;
  return (
    <li id={`delivery-${id}`}>
      <div class="delivery">
        <div>
          <p>
            <span class={`badge ${tones[status]}`}>{status}</span> <strong>{eventType}</strong>{' '}
            <span class="faint">
              <Time at={createdAt} />
            </span>
          </p>
          <p>{outcomeText(delivery)}</p>
          <p class="faint">
            {attemptsText(attempts)}
            {nextAttemptAt !== null && (
              <>
                , next <Time at={nextAttemptAt} />
              </>
            )}
            {' · '}
            {delivery.messageId}
          </p>
        </div>
        {onResend !== undefined && (
          <button type="button" class="quiet" aria-disabled={isBusy} onClick={() => isBusy || onResend()}>
            Resend<span class="hidden"> {delivery.messageId}</span>
          </button>
        )}
      </div>
    </li>
  );
}

/** State of a webhook and of its deliveries. */
function WebhookSummary({ webhook }: { webhook: WebhookState }) {
  const { status, failureCount, failingSince, previousSecretUntil } = webhook;
  return (
    <dl class="summary">
      <div>
        <dt>State</dt>
        <dd>
          <WebhookStatus status={status} failureCount={failureCount} />
        </dd>
      </div>
      <div>
        <dt>Last delivery</dt>
        <dd>
          <Time at={webhook.lastDeliveryAt} />
        </dd>
      </div>
      <div>
        <dt>Waiting</dt>
        <dd>
          {countText(webhook.waiting)}
          {webhook.retrying > 0 && <span class="faint">, {countText(webhook.retrying)} after a failure</span>}
        </dd>
      </div>
      {failingSince !== null && (
        <div>
          <dt>Failing since</dt>
          <dd>
            <Time at={failingSince} />
            <span class="faint">, {failureCount === 1 ? '1 attempt' : `${failureCount} attempts`}</span>
          </dd>
        </div>
      )}
      {previousSecretUntil !== null && (
        <div>
          <dt>The old secret ends</dt>
          <dd>
            <Time at={previousSecretUntil} />
          </dd>
        </div>
      )}
      <div>
        <dt>Events</dt>
        <dd>{webhook.events.join(', ')}</dd>
      </div>
      {webhook.events.includes('session.risk_raised') && (
        <div>
          <dt>Risk from</dt>
          <dd>{webhook.riskLevel}</dd>
        </div>
      )}
      <div>
        <dt>Created</dt>
        <dd>
          <Time at={webhook.createdAt} />
        </dd>
      </div>
    </dl>
  );
}
