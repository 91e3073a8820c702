import { atLeast, oneOf } from '../option-checks.ts';
import type { GuardOptions } from './guard-options.ts';

/** A guard's options, checked and completed. */
export interface GuardSettings extends GuardOptions {
  readonly mode: 'off' | 'observe' | 'enforce';
  readonly timeoutMs: number;
  readonly holdTimeoutMs: number;
}

const guardModes = ['off', 'observe', 'enforce'] as const;
const onUnavailableValues = ['allow', 'deny'] as const;

/**
 * Checks a guard's options and fills in what was left out: from another guard where there is one, else from the
 * environment.
 *
 * @throws RangeError when a number cannot be used
 * @throws TypeError when it is no object, a choice is none, or `enforce` comes without `onUnavailable`
 */
export function resolveGuard(given: GuardOptions, otherwise?: GuardSettings): GuardSettings {
  if (typeof given !== 'object') {
    throw new TypeError(
      'guard must be an object with options, such as { mode: "enforce", onUnavailable: "deny" }.',
    );
  }
  const { env } = process;
  const field = <Name extends keyof GuardOptions>(name: Name) => given[name] ?? otherwise?.[name];
  const mode = oneOf(guardModes, 'guard.mode', field('mode') ?? (env.ACTLOG_GUARD || undefined)) ?? 'off';
  const onUnavailable = oneOf(
    onUnavailableValues,
    'guard.onUnavailable',
    field('onUnavailable') ?? (env.ACTLOG_GUARD_ON_UNAVAILABLE || undefined),
  );
  if (mode === 'enforce' && onUnavailable === undefined) {
    throw new TypeError(
      'guard.onUnavailable is missing: choose "allow" (calls run unchecked while the service cannot be reached) or "deny" (they do not run).',
    );
  }
  return {
    mode,
    onUnavailable,
    timeoutMs: atLeast(1, 'guard.timeoutMs', field('timeoutMs'), 5_000),
    holdTimeoutMs: atLeast(0, 'guard.holdTimeoutMs', field('holdTimeoutMs'), 300_000),
    showArguments: field('showArguments'),
    environment: field('environment') ?? (env.ACTLOG_ENVIRONMENT || undefined),
  };
}
