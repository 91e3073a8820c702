import { InvalidArgumentError } from './errors/invalid-argument-error.ts';

/**
 * Checks a signal before anything is sent.
 *
 * @throws InvalidArgumentError When it is none, such as the controller that it belongs to.
 */
export function checkedSignal(signal: AbortSignal | undefined): AbortSignal | undefined {
  if (!signal) return undefined;
  if (typeof signal.addEventListener === 'function') return signal;
  throw new InvalidArgumentError('signal must be an AbortSignal: pass that of the controller.');
}
