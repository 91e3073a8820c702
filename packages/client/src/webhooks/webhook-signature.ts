import { webhookHeaders } from '@actlog/protocol';
import { InvalidArgumentError } from '../errors/actlog-error.ts';

/** A message to be signed (Standard Webhooks). */
export interface WebhookMessage {
  /** `webhook-id`. */
  readonly id: string;
  /** `webhook-timestamp`: seconds since the epoch. */
  readonly timestamp: string;
  /** The body, byte for byte. */
  readonly body: string | Uint8Array;
}

/**
 * Checks that the body is a string or bytes.
 *
 * @throws InvalidArgumentError When it is neither.
 */
export function checkBody(body: unknown): void {
  if (typeof body === 'string' || body instanceof Uint8Array) return;
  throw new InvalidArgumentError(
    'body must be the raw text or bytes of the request: a parsed body cannot be verified.',
  );
}

const encoder = new TextEncoder();
const secretPrefix = 'whsec_';

/** Headers with the signature of a delivery. */
export type WebhookSignatureHeaders = Record<(typeof webhookHeaders)[keyof typeof webhookHeaders], string>;

/**
 * Signs a message with HMAC-SHA256 (Standard Webhooks, "Signature scheme").
 *
 * @throws InvalidArgumentError When the secret is not a `whsec_…` in base64, the body is neither a string nor bytes, or
 * the timestamp is not a number.
 */
export async function signWebhook(message: WebhookMessage, secret: string): Promise<WebhookSignatureHeaders> {
  checkBody(message.body);
  if (!/^\d+$/.test(message.timestamp)) throw new InvalidArgumentError('timestamp must be a valid Date.');
  const mac = await crypto.subtle.sign('HMAC', await importSecret(secret, 'sign'), signedContent(message));
  return {
    [webhookHeaders.id]: message.id,
    [webhookHeaders.timestamp]: message.timestamp,
    [webhookHeaders.signature]: `v1,${btoa(String.fromCharCode(...new Uint8Array(mac)))}`,
  };
}

/**
 * Returns `true` if one of the signatures was made with one of the secrets. The platform compares them in constant
 * time.
 *
 * @param signatures Value of `webhook-signature`: several signatures, separated by spaces, during a secret rotation.
 * @throws InvalidArgumentError When a secret is not a `whsec_…` in base64.
 */
export async function isSignedBy(
  message: WebhookMessage,
  signatures: string,
  secrets: readonly string[],
): Promise<boolean> {
  const content = signedContent(message);
  const macs = signatures
    .split(' ', 20)
    .filter((signature) => signature.startsWith('v1,'))
    .map((signature) => base64Bytes(signature.slice(3)));
  let found = false;
  for (const secret of secrets) {
    const key = await importSecret(secret, 'verify');
    for (const mac of macs) {
      if (mac && (await crypto.subtle.verify('HMAC', key, mac, content))) found = true;
    }
  }
  return found;
}

function signedContent({ id, timestamp, body }: WebhookMessage): Uint8Array<ArrayBuffer> {
  const head = encoder.encode(`${id}.${timestamp}.`);
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  const content = new Uint8Array(head.length + bytes.length);
  content.set(head);
  content.set(bytes, head.length);
  return content;
}

function importSecret(secret: string, use: 'sign' | 'verify'): ReturnType<typeof crypto.subtle.importKey> {
  // An unset environment variable is not a secret, and must not be converted to bytes, whatever its type says.
  const given = typeof secret === 'string' ? secret : '';
  const bytes = base64Bytes(given.startsWith(secretPrefix) ? given.slice(secretPrefix.length) : given);
  if (!bytes?.length) {
    throw new InvalidArgumentError(
      'secret must be the whsec_… secret that the service returned when the notification channel was created.',
    );
  }
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, [use]);
}

function base64Bytes(text: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
