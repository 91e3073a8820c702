import { type WebhookEvent, webhookHeaders } from '@actlog/protocol';
import { InvalidArgumentError, invalidValue, WebhookVerificationError } from '../errors/actlog-error.ts';
import { checkBody, isSignedBy } from './webhook-signature.ts';

// In the same chunk of a bundle, so that what is loaded at once stays small.
export { signWebhook } from './webhook-signature.ts';

/** Headers of a delivery, in the form of any server framework. */
export type WebhookRequestHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A delivery as received by a server. */
export interface WebhookDelivery {
  readonly body: string | Uint8Array;
  readonly headers: WebhookRequestHeaders;
  readonly secret: string | readonly string[];
  readonly toleranceSeconds: number;
  /** Current Unix time in milliseconds. */
  readonly nowMs: number;
}

/** Verifies a delivery and returns its event; see `Webhooks.unwrap`. */
export async function unwrapDelivery(delivery: WebhookDelivery): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds, nowMs } = delivery;
  checkBody(body);
  if (typeof headers !== 'object' || headers === null) {
    throw invalidValue('headers', 'the headers of the request', headers);
  }
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!secrets?.length)
    throw new InvalidArgumentError('secret is missing: pass the whsec_… secret of the notification channel.');
  if (!(typeof toleranceSeconds === 'number' && toleranceSeconds >= 0)) {
    throw invalidValue('toleranceSeconds', 'a non-negative number of seconds', toleranceSeconds);
  }
  const id = required(headers, webhookHeaders.id);
  const timestamp = required(headers, webhookHeaders.timestamp);
  const signatures = required(headers, webhookHeaders.signature);
  const ageSeconds = nowMs / 1000 - Number(timestamp);
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(ageSeconds) > toleranceSeconds) {
    throw new WebhookVerificationError(
      `The delivery's webhook-timestamp is more than ${toleranceSeconds} seconds away from now.`,
    );
  }
  if (!(await isSignedBy({ id, timestamp, body }, signatures, secrets))) {
    throw new WebhookVerificationError('No signature of the delivery was made with the secret.');
  }
  return parseEvent(body);
}

function required(headers: WebhookRequestHeaders, name: string): string {
  const value =
    'get' in headers && typeof headers.get === 'function' ? headers.get(name) : fromRecord(headers, name);
  if (typeof value === 'string' && value !== '') return value;
  throw new WebhookVerificationError(`The delivery has no ${name} header.`);
}

function fromRecord(headers: object, name: string): unknown {
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? [];
  return Array.isArray(value) ? value[0] : value;
}

function parseEvent(body: string | Uint8Array): WebhookEvent {
  try {
    const event: unknown = JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body));
    if (typeof event === 'object' && event !== null && 'type' in event && typeof event.type === 'string') {
      return event as WebhookEvent;
    }
  } catch {
    // Handled below, without quoting the body.
  }
  throw new WebhookVerificationError(
    'The delivery is signed, but its body is not an event: expected a JSON object with a type.',
  );
}
