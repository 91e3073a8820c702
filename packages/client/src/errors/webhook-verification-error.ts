import { ActlogError, brandError } from './actlog-error.ts';

/**
 * Error thrown when a webhook delivery cannot be verified: a header is missing, it is too old or too new, no signature
 * matches, or the body is not an event (`WEBHOOK_VERIFICATION`). Respond with status 400 and ignore the delivery.
 */
export class WebhookVerificationError extends ActlogError {
  static {
    brandError(WebhookVerificationError, 'WebhookVerificationError');
  }

  constructor(message: string, cause?: unknown) {
    super(message, 'WEBHOOK_VERIFICATION', { cause });
  }
}
