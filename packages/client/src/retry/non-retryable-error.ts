/**
 * Error thrown when a hook of the caller or the destination of the body fails, for example on a full disk. The call is
 * not retried and rejects with `cause`, which may be any value.
 */
export class NonRetryableError extends Error {}
