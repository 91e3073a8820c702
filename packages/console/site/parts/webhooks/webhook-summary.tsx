import type { WebhookState } from '@actlog/protocol';
import { countText } from '../../count-text.ts';
import { Time } from '../time.tsx';
import { WebhookStatus } from './webhook-status.tsx';

/** State of a webhook and of its deliveries. */
export function WebhookSummary({ webhook }: { webhook: WebhookState }) {
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
