import type { NotificationChannel } from '@actlog/client';
import { href } from '../../route.ts';
import { Time } from '../time.tsx';
import { WebhookStatus } from './webhook-status.tsx';

function failuresText(count: number): string {
  return count === 1 ? '1 failed attempt' : `${count} failed attempts`;
}

/** A webhook in the list: its state, its address and what it receives. */
export function WebhookItem({
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
