import { createHmac, randomBytes } from 'node:crypto';

const secretPrefix = 'whsec_';

/** Makes a signing secret of 256 bits (Standard Webhooks, "Signature scheme"). */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

/**
 * A signature of a message, one of those that `webhook-signature` lists with spaces between them. `timestampSeconds` is
 * when this try is sent.
 */
export function webhookSignature(
  secret: string,
  messageId: string,
  timestampSeconds: number,
  body: string,
): string {
  const key = Buffer.from(secret.slice(secretPrefix.length), 'base64');
  const digest = createHmac('sha256', key)
    .update(`${messageId}.${timestampSeconds}.${body}`)
    .digest('base64');
  return `v1,${digest}`;
}
