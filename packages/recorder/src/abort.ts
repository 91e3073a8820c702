/**
 * Checks the signal of a call before anything is asked or waited for.
 *
 * @throws TypeError when it is none, such as the controller that it belongs to
 */
export function checkSignal(signal: AbortSignal | undefined): void {
  if (!signal || typeof signal.addEventListener === 'function') return;
  throw new TypeError('signal must be an AbortSignal: pass that of the controller.');
}

/**
 * What `AbortSignal.throwIfAborted` does, for the signals of polyfills too, which lack it.
 *
 * @throws the signal's reason when it has aborted
 */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw 'reason' in signal
    ? signal.reason
    : new DOMException('The call was aborted by its signal.', 'AbortError');
}
