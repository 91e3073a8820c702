import { ActlogError, brandError } from './actlog-error.ts';

/**
 * A webhook delivery cannot be trusted: a header is missing, it is too old or too new, no signature matches, or the
 * body is no event (`WEBHOOK_VERIFICATION`). Answer it with status 400 and do nothing else.
 */
export class WebhookVerificationError extends ActlogError {
  static {
    brandError(WebhookVerificationError, 'WebhookVerificationError');
  }

  constructor(message: string, cause?: unknown) {
    super(message, 'WEBHOOK_VERIFICATION', { cause });
  }
}
