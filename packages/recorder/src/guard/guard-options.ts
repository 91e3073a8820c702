import { atLeast, checkType, environmentVariable, oneOf } from '../lib/option-checks.ts';
import type { Reporter } from '../reporting/reporter.ts';
import type { GuardedCall } from './guarded-call.ts';

/** Decision of a service, as `readDecision` maps it. */
export interface GuardDecision {
  /** `allow` runs the call, `deny` does not, `require_approval` holds it and repeats the check. */
  readonly decision: 'allow' | 'deny' | 'require_approval';
  /** Reason for the model that requested the call, such as the message of the policy. */
  readonly reason?: string | undefined;
  /** Policy that decided. */
  readonly policyId?: string | number | undefined;
  /** Name of the policy, for the model and its user. */
  readonly policyName?: string | undefined;
  /** Pending action of a held call. */
  readonly pendingActionId?: string | number | undefined;
  /** Source of a denial. Default: `policy`. */
  readonly deniedBy?: 'policy' | 'person' | undefined;
  /** `true` if the call was denied because nobody decided in time. Default false. */
  readonly isTimedOut?: boolean | undefined;
}

/** Maps the body of a response of `POST /v1/policies/check` to a decision; undefined if it has none. */
export type ReadDecision = (body: Readonly<Record<string, unknown>>) => GuardDecision | undefined;

/** Options of the guard. */
export interface GuardOptions {
  /**
   * `off` checks nothing. `observe` checks without waiting and lets every call run: counters and the diagnostics
   * channel `guarded` report what `enforce` would have done. `enforce` checks before a call runs. Default:
   * `ACTLOG_GUARD`, otherwise `off`.
   */
  readonly mode?: 'off' | 'observe' | 'enforce' | undefined;
  /**
   * Behavior of `enforce` if the service does not respond, or responds with an error. Never applies to a call that is
   * known to need approval, nor to a response whose decision cannot be read: such calls do not run. Required with
   * `enforce`; default: `ACTLOG_GUARD_ON_UNAVAILABLE`.
   */
  readonly onUnavailable?: 'allow' | 'deny' | undefined;
  /**
   * Time limit of the first check, with its retries, in milliseconds. If the event loop was stalled for half of it or
   * more, for example by a tool, the check is repeated. Default 5,000.
   */
  readonly timeoutMs?: number | undefined;
  /**
   * Maximum wait for a person's approval, in milliseconds; decisions made by then are noticed within another second.
   * Default 300,000.
   */
  readonly holdTimeoutMs?: number | undefined;
  /**
   * Selects the parts of the arguments that are sent to the service, for policy conditions. Default: none. If it throws
   * or returns something other than a JSON object, or if the service rejects the check because of the arguments, the
   * check is sent without them, and an `allow` then counts as no response.
   */
  readonly showArguments?: ((args: unknown, toolName: string) => Record<string, unknown>) | undefined;
  /**
   * Maps the responses of a service with other decision fields, because the specification does not fix them. If it
   * throws or returns no decision, the call does not run. Default: the fields of the reference profile.
   */
  readonly readDecision?: ReadDecision | undefined;
  /**
   * Environment that the agent runs in, such as `production`, for policies to match: at most 100 characters on one
   * line. Default: `ACTLOG_ENVIRONMENT`.
   */
  readonly environment?: string | undefined;
  /**
   * Person or system on whose behalf the agent acts, for conditions and approvers: at most 200 characters on one line. A
   * function returns the principal of a call, or undefined for none; if it throws or returns anything else, the call
   * counts as not checked, and `onUnavailable` decides. Default: none is sent.
   */
  readonly principal?: string | ((call: PrincipalCall) => string | undefined) | undefined;
}

/** Call whose principal is needed. */
export interface PrincipalCall {
  readonly agentId: string;
  readonly sessionId: string;
  readonly toolName: string;
}

/** Principals that the service accepts (reference profile, "Check"). */
const validPrincipal = /^[^\p{Cc}\p{Cs}]{1,200}$/u;

/** `true` if the service accepts a string as a principal. */
function isPrincipal(text: string): boolean {
  return validPrincipal.test(text);
}

/** Principals of calls. Each is read once, because an approval is bound to it. */
export class CallPrincipals {
  readonly #option: GuardOptions['principal'];
  readonly #reporter: Reporter;
  readonly #known = new WeakMap<GuardedCall, { readonly principal: string | undefined }>();

  constructor(option: GuardOptions['principal'], reporter: Reporter) {
    this.#option = option;
    this.#reporter = reporter;
  }

  /** Returns the principal of a call; undefined for none, and null if the option fails to name it. */
  of(call: GuardedCall): string | null | undefined {
    const option = this.#option;
    if (typeof option !== 'function') return option;
    const known = this.#known.get(call);
    if (known) return known.principal;
    let problem = 'threw';
    try {
      const { agentId, sessionId, toolName } = call;
      const given: unknown = option({ agentId, sessionId, toolName });
      problem = 'returned a value that is not a text of at most 200 characters on one line';
      if (given === undefined || (typeof given === 'string' && isPrincipal(given))) {
        this.#known.set(call, { principal: given });
        return given;
      }
    } catch {
      // The error could quote an argument.
    }
    this.#reporter.failed('guard', new Error(`guard.principal ${problem}; the call was not checked.`));
    return null;
  }
}

/** Options of a guard, checked and completed. */
export interface GuardSettings extends GuardOptions {
  readonly mode: 'off' | 'observe' | 'enforce';
  readonly timeoutMs: number;
  readonly holdTimeoutMs: number;
}

const guardModes = ['off', 'observe', 'enforce'] as const;
const onUnavailableValues = ['allow', 'deny'] as const;
/** Names that the service accepts (reference profile, "Check"). */
const environmentName = /^[^\p{Cc}\p{Cs}]{1,100}$/u;

/**
 * Checks the options of a guard and completes them from another guard, otherwise from the environment.
 *
 * @throws RangeError when a number or the name of the environment is invalid
 * @throws TypeError when an option has the wrong type or an unknown value, or `enforce` lacks `onUnavailable`
 */
export function resolveGuard(given: GuardOptions, otherwise?: GuardSettings): GuardSettings {
  checkGuard(given);
  const field = <Name extends keyof GuardOptions>(name: Name) => given[name] ?? otherwise?.[name];
  checkType('function', 'guard.showArguments', field('showArguments'));
  checkType('function', 'guard.readDecision', field('readDecision'));
  checkType('string', 'guard.environment', field('environment'));
  const principal = field('principal');
  if (typeof principal !== 'function') checkType('string', 'guard.principal', principal);
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
      'guard.onUnavailable is missing: choose "allow" (calls run unchecked while the service is unreachable) or "deny" (they do not run), or set ACTLOG_GUARD_ON_UNAVAILABLE.',
    );
  }
  const environment = field('environment') ?? environmentVariable('ACTLOG_ENVIRONMENT');
  // The service would reject every check, and calls would run unchecked if `onUnavailable` allows that.
  if (environment && !environmentName.test(environment)) {
    throw new RangeError('guard.environment must have at most 100 characters and no control characters.');
  }
  if (typeof principal === 'string' && !isPrincipal(principal)) {
    throw new RangeError(
      'guard.principal must have 1 to 200 characters and no control characters; leave it out for none.',
    );
  }
  return {
    mode,
    onUnavailable,
    timeoutMs: atLeast(1, 'guard.timeoutMs', field('timeoutMs'), 5_000),
    holdTimeoutMs: atLeast(0, 'guard.holdTimeoutMs', field('holdTimeoutMs'), 300_000),
    showArguments: field('showArguments'),
    readDecision: field('readDecision'),
    environment,
    principal,
  };
}

/** Names of the options. */
const guardNames = Object.keys({
  mode: true,
  onUnavailable: true,
  timeoutMs: true,
  holdTimeoutMs: true,
  showArguments: true,
  readDecision: true,
  environment: true,
  principal: true,
} satisfies Record<keyof GuardOptions, true>);

/**
 * Rejects a guard that is not an object, such as `guard: 'enforce'`, and one with a name that no option has, such as
 * `guard: { enforce: true }`: they would be ignored, and the guard be off.
 */
export function checkGuard(given: unknown): void {
  checkType('object', 'guard', given, 'pass options such as { mode: "enforce", onUnavailable: "deny" }');
  const unknown = Object.entries(given ?? {}).find(
    ([name, value]) => value !== undefined && !guardNames.includes(name),
  );
  if (unknown === undefined) return;
  throw new TypeError(
    `guard.${unknown[0]} is not an option of the guard: pass some of ${guardNames.join(', ')}.`,
  );
}

/**
 * Rejects options of the guard beside `guard`, where they would be ignored.
 *
 * @throws TypeError when there is one
 */
export function refuseGuardOptions(options: object): void {
  const beside = ['mode', 'onUnavailable', 'holdTimeoutMs', 'showArguments', 'readDecision', 'principal'];
  const name = beside.find((option) => options[option as keyof typeof options] !== undefined);
  if (name !== undefined) {
    throw new TypeError(`${name} is an option of the guard: pass guard: { ${name}: ... }.`);
  }
}
