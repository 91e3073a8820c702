import type { WebhookEvent } from '@actlog/protocol';
import { type Clock, systemClock } from '../clock.ts';
import type { WebhookRequestHeaders } from '../webhook-delivery.ts';
import type { WebhookSignatureHeaders } from '../webhook-signature.ts';

/** Options of `unwrap`. */
export interface UnwrapOptions {
  /** How old or how far ahead a delivery may be, in seconds, so that an old one cannot be replayed. Default 300. */
  readonly toleranceSeconds?: number | undefined;
}

/** What a test delivery is signed with. */
export interface SignOptions {
  /** `webhook-id`. Default: a new one. */
  readonly id?: string | undefined;
  /** When it is sent. Default: now. */
  readonly timestamp?: Date | undefined;
}

/**
 * Deliveries of the service to your own server (reference profile, "Notification channel"; Standard Webhooks). Needs
 * no API key: `new Webhooks()` serves where nothing is sent.
 */
export class Webhooks {
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /**
   * Checks a delivery and gives its event. Kinds of event that this package does not know come through as they are,
   * so keep a `default` in a `switch` over `event.type`.
   *
   * @param body The body exactly as it came, before any JSON parser touched it.
   * @param headers The request's headers.
   * @param secret The `whsec_…` of the channel; several while it is being changed.
   * @throws WebhookVerificationError When it was not signed with the secret, is too old or too new, or is no event.
   * @throws InvalidArgumentError When the secret is missing or malformed, or the tolerance is no number from 0.
   */
  async unwrap(
    body: string | Uint8Array,
    headers: WebhookRequestHeaders,
    secret: string | readonly string[],
    { toleranceSeconds = 300 }: UnwrapOptions = {},
  ): Promise<WebhookEvent> {
    const { unwrapDelivery } = await import('../webhook-delivery.ts');
    return unwrapDelivery({ body, headers, secret, toleranceSeconds, nowMs: this.#clock.wallClock() });
  }

  /**
   * Signs a delivery, for tests of your own handler.
   *
   * @returns The headers to send with the body.
   * @throws InvalidArgumentError When the secret is malformed, the body is parsed already, or the time is no valid Date.
   */
  async sign(
    body: string | Uint8Array,
    secret: string,
    options: SignOptions = {},
  ): Promise<WebhookSignatureHeaders> {
    const { signWebhook } = await import('../webhook-signature.ts');
    const id = options.id ?? `dlv_${crypto.randomUUID().replaceAll('-', '')}`;
    const at = Number(options.timestamp ?? this.#clock.wallClock());
    return signWebhook({ id, timestamp: String(Math.floor(at / 1000)), body }, secret);
  }
}
