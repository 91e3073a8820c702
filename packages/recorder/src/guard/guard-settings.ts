import { environmentVariable } from '../environment-variable.ts';
import { atLeast, checkType, oneOf } from '../option-checks.ts';
import type { GuardOptions } from './guard-options.ts';

/** A guard's options, checked and completed. */
export interface GuardSettings extends GuardOptions {
  readonly mode: 'off' | 'observe' | 'enforce';
  readonly timeoutMs: number;
  readonly holdTimeoutMs: number;
}

const guardModes = ['off', 'observe', 'enforce'] as const;
const onUnavailableValues = ['allow', 'deny'] as const;
/** What the service takes (reference profile, "Check"). */
const environmentName = /^[^\p{Cc}\p{Cs}]{1,100}$/u;

/**
 * Checks a guard's options and fills in what was left out: from another guard where there is one, else from the
 * environment.
 *
 * @throws RangeError when a number or the name of the environment cannot be used
 * @throws TypeError when one is of the wrong type, a choice is none, or `enforce` comes without `onUnavailable`
 */
export function resolveGuard(given: GuardOptions, otherwise?: GuardSettings): GuardSettings {
  checkGuard(given);
  const field = <Name extends keyof GuardOptions>(name: Name) => given[name] ?? otherwise?.[name];
  checkType('function', 'guard.showArguments', field('showArguments'));
  checkType('string', 'guard.environment', field('environment'));
  const mode =
    oneOf(guardModes, 'guard.mode', field('mode')) ??
    oneOf(guardModes, 'ACTLOG_GUARD', environmentVariable('ACTLOG_GUARD')) ??
    'off';
  const onUnavailable =
    oneOf(onUnavailableValues, 'guard.onUnavailable', field('onUnavailable')) ??
    oneOf(
      onUnavailableValues,
      'ACTLOG_GUARD_ON_UNAVAILABLE',
      environmentVariable('ACTLOG_GUARD_ON_UNAVAILABLE'),
    );
  if (mode === 'enforce' && onUnavailable === undefined) {
    throw new TypeError(
      'guard.onUnavailable is missing: choose "allow" (calls run unchecked while the service cannot be reached) or "deny" (they do not run), there or by ACTLOG_GUARD_ON_UNAVAILABLE.',
    );
  }
  const environment = field('environment') ?? environmentVariable('ACTLOG_ENVIRONMENT');
  // The service would refuse every question, and calls go unchecked where onUnavailable allows that.
  if (environment && !environmentName.test(environment)) {
    throw new RangeError(
      'guard.environment must be at most 100 characters, none of them a control character.',
    );
  }
  return {
    mode,
    onUnavailable,
    timeoutMs: atLeast(1, 'guard.timeoutMs', field('timeoutMs'), 5_000),
    holdTimeoutMs: atLeast(0, 'guard.holdTimeoutMs', field('holdTimeoutMs'), 300_000),
    showArguments: field('showArguments'),
    environment,
  };
}

/** Refuses a guard that is no object, such as `guard: 'enforce'`, in which no option would be found. */
export function checkGuard(given: unknown): void {
  checkType('object', 'guard', given, 'pass options such as { mode: "enforce", onUnavailable: "deny" }');
}
