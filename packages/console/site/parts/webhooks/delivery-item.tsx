import type { WebhookDelivery } from '@actlog/protocol';
import { Time } from '../time.tsx';

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
export function DeliveryItem({
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
