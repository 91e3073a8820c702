import type { WebhookHealth } from '@actlog/protocol';
import { countText } from '../../count-text.ts';
import { href } from '../../route.ts';
import { Time } from '../time.tsx';
import { PanelTable } from './panel-table.tsx';

const columns = [
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
        <PanelTable caption="State of webhooks" columns={columns}>
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
