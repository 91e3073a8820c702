import { InvalidArgumentError } from '../errors/invalid-argument-error.ts';

/**
 * Returns the signal after checking that it is an `AbortSignal`.
 *
 * @throws InvalidArgumentError When it is something else, such as the `AbortController` that owns it.
 */
export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (!signal) return undefined;
  if (typeof signal.addEventListener === 'function') return signal;
  throw new InvalidArgumentError(
    'signal must be an AbortSignal: pass controller.signal, not the controller.',
  );
}
