import { type WebhookEvent, webhookHeaders } from '@actlog/protocol';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { WebhookVerificationError } from './errors/webhook-verification-error.ts';
import { shown } from './shown.ts';
import { checkBody, isSignedBy } from './webhook-signature.ts';

/** Headers of a delivery, as any server framework gives them. */
export type WebhookRequestHeaders =
  | Pick<Headers, 'get'>
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** A delivery as it reached a server. */
export interface WebhookDelivery {
  readonly body: string | Uint8Array;
  readonly headers: WebhookRequestHeaders;
  readonly secret: string | readonly string[];
  readonly toleranceSeconds: number;
  /** The present time, in milliseconds since the epoch. */
  readonly nowMs: number;
}

/** Checks a delivery and gives its event; see `Webhooks.unwrap`. */
export async function unwrapDelivery(delivery: WebhookDelivery): Promise<WebhookEvent> {
  const { body, headers, secret, toleranceSeconds, nowMs } = delivery;
  checkBody(body);
  if (typeof headers !== 'object' || headers === null) {
    throw new InvalidArgumentError(`headers must be those of the request, and is ${shown(headers)}.`);
  }
  const secrets = typeof secret === 'string' ? [secret] : secret;
  if (!secrets?.length) throw new InvalidArgumentError('secret is missing: pass the whsec_… of the channel.');
  if (!(typeof toleranceSeconds === 'number' && toleranceSeconds >= 0)) {
    const given = shown(toleranceSeconds);
    throw new InvalidArgumentError(`toleranceSeconds must be a number of seconds from 0, and is ${given}.`);
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
    // Said below, without quoting the body.
  }
  throw new WebhookVerificationError(
    'The delivery is signed, and its body is no event: no JSON object with a type.',
  );
}
