import { responseStatuses } from '@actlog/tool-call';

/**
 * Checks the signal of a call before anything else happens.
 *
 * @throws TypeError when it is not an `AbortSignal`, such as the controller that owns it
 */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (!signal || typeof signal.addEventListener === 'function') return;
  throw new TypeError('signal must be an AbortSignal: pass controller.signal, not the controller.');
}

/**
 * Does the same as `AbortSignal.throwIfAborted`, which the signals of some polyfills lack.
 *
 * @throws the signal's reason if it has aborted
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw 'reason' in signal
    ? signal.reason
    : new DOMException('The call was aborted by its signal.', 'AbortError');
}

/** Creates the error of a call that its caller gave up or that ended with its run. Its status is 499. */
export function abandonedCall(message: string): Error {
  return Object.assign(new DOMException(message, 'AbortError'), { status: responseStatuses.aborted });
}
