import type { WebhookEvent } from '@actlog/protocol';
import { type Clock, systemClock } from '../client-options.ts';
import type { WebhookRequestHeaders } from '../webhooks/webhook-delivery.ts';
import type { WebhookSignatureHeaders } from '../webhooks/webhook-signature.ts';

/** Options of `unwrap`. */
export interface UnwrapOptions {
  /**
   * Maximum difference between a delivery's timestamp and now, in seconds, in either direction. Prevents replays of old
   * deliveries. Default 300.
   */
  readonly toleranceSeconds?: number | undefined;
}

/** Options of `sign`. */
export interface SignOptions {
  /** Value of `webhook-id`. Default: a new one. */
  readonly id?: string | undefined;
  /** Time of sending. Default: now. */
  readonly timestamp?: Date | undefined;
}

/**
 * Verifies deliveries of the service to your server (reference profile, "Notification channel"; Standard Webhooks).
 * Needs no API key: use `new Webhooks()` where nothing else of the client is needed.
 */
export class Webhooks {
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * Verifies a delivery and returns its event. Event types unknown to this package are returned unchanged, so keep a
   * `default` in a `switch` over `event.type`.
   *
   * @param body The raw body of the request, before any JSON parsing.
   * @param headers Headers of the request.
   * @param secret The `whsec_…` of the notification channel; several during a rotation, of which one must match.
   * @param options The tolerance for the time of the delivery.
   * @throws WebhookVerificationError When a `webhook-…` header is missing, the delivery was not signed with the secret, is
   * older or newer than the tolerance allows, or is not an event.
   * @throws InvalidArgumentError When the body is already parsed, `headers` is not an object, the secret is missing or
   * malformed, or the tolerance is not a non-negative number.
   *
   * @example
   * ```ts
   * export async function receive(request: Request): Promise<Response> {
   *   const event = await client.webhooks.unwrap(await request.text(), request.headers, 'whsec_…');
   *   if (event.type === 'guardian.action_pending') console.log(event.data.action?.id);
   *   return new Response(null, { status: 204 });
   * }
   * ```
   */
  async unwrap(
    body: string | Uint8Array,
    headers: WebhookRequestHeaders,
    secret: string | readonly string[],
    { toleranceSeconds = 300 }: UnwrapOptions = {},
  ): Promise<WebhookEvent> {
    const { unwrapDelivery } = await import('../webhooks/webhook-delivery.ts');
    return unwrapDelivery({ body, headers, secret, toleranceSeconds, nowMs: this.#clock.wallClock() });
  }

  /**
   * Signs a delivery, for tests of your handler.
   *
   * @returns Headers to send with the body.
   * @throws InvalidArgumentError When the secret is malformed, the body is already parsed, or the timestamp is not a
   * valid Date.
   *
   * @example
   * ```ts
   * const body = JSON.stringify({ type: 'test', timestamp: new Date(), data: {} });
   * const headers = await client.webhooks.sign(body, 'whsec_…');
   * const request = new Request('https://example.com/actlog', { method: 'POST', headers, body });
   * ```
   */
  async sign(
    body: string | Uint8Array,
    secret: string,
    options: SignOptions = {},
  ): Promise<WebhookSignatureHeaders> {
    const { signWebhook } = await import('../webhooks/webhook-delivery.ts');
    const id = options.id ?? `dlv_${crypto.randomUUID().replaceAll('-', '')}`;
    const at = Number(options.timestamp ?? this.#clock.wallClock());
    return signWebhook({ id, timestamp: String(Math.floor(at / 1000)), body }, secret);
  }
}
