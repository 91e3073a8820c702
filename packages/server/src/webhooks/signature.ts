import { createHmac, randomBytes } from 'node:crypto';

const secretPrefix = 'whsec_';

/** Creates a signing secret of 256 bits (Standard Webhooks, "Signature scheme"). */
export function newWebhookSecret(): string {
  return secretPrefix + randomBytes(32).toString('base64');
}

/**
 * Returns one of the space-separated signatures in `webhook-signature`.
 *
 * @param timestampSeconds - time of this attempt
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
