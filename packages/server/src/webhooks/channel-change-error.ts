/**
 * Error thrown when a webhook cannot be changed: `unknown` if the tenant has no such webhook or delivery, `disabled` if
 * nothing can be sent to it, `secret` if its secret is encrypted under another secret of the deployment.
 */
export class ChannelChangeError extends Error {
  override readonly name = 'ChannelChangeError';
  readonly reason: 'unknown' | 'disabled' | 'secret';

  constructor(reason: ChannelChangeError['reason'], message: string) {
    super(message);
    this.reason = reason;
  }
}

/** Returns the error for an unknown webhook. */
export function unknownChannel(id: string): ChannelChangeError {
  return new ChannelChangeError('unknown', `The tenant has no webhook "${id}".`);
}

/** Returns the error for a message to a disabled webhook. */
export function disabledChannel(id: string): ChannelChangeError {
  return new ChannelChangeError(
    'disabled',
    `The webhook "${id}" is disabled, so nothing is sent to it; enable it first.`,
  );
}
