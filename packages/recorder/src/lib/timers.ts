import { AsyncLocalStorage } from 'node:async_hooks';
import { performance } from 'node:perf_hooks';
import { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } from 'node:timers';
import { responseStatuses } from '@actlog/tool-call';

/** Returns monotonic milliseconds. */
const now = () => performance.now();

/**
 * Timers and clock of Node, saved before a test can fake them. Fake timers would stop delivery, and permanently if the
 * test restores the real ones before a fake timer has fired.
 */
export const timers = { clearInterval, clearTimeout, now, setImmediate, setInterval, setTimeout };

/** State of a recorder's events. All fields except `spooled` add up to the recorded and adopted events. */
export interface FlushResult {
  /** Events delivered since the recorder was created. */
  readonly delivered: number;
  /** Events not delivered yet. */
  readonly pending: number;
  /** Pending events that are on disk and survive the end of the process. */
  readonly spooled: number;
  /** Events lost since the recorder was created. */
  readonly dropped: number;
  /** Events that the service rejected permanently since the recorder was created. */
  readonly deadLettered: number;
}

/** Options of a wait. */
export interface WaitOptions {
  /** Maximum time to wait, in milliseconds. */
  readonly timeoutMs?: number | undefined;
}

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

/** Handles the rejection of a promise returned by a user function, which would otherwise end the process. */
export function ignoreRejection(returned: unknown): void {
  if (returned instanceof Promise) returned.catch(() => {});
}

/**
 * Runs a function outside any async context of the agent. Timers and connections started there do not retain the
 * agent's `AsyncLocalStorage` values or pass them to callbacks. Only the context of the first import of this file is
 * kept, which Node cannot avoid.
 */
export const detached: <Result>(fn: () => Result) => Result = AsyncLocalStorage.snapshot();
