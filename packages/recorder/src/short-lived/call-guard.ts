import { parseTraceparent } from '@actlog/tool-call';
import type { ApprovedChange } from '../events/tool-call.ts';
import { ActionDeniedError } from '../guard/action-denied-error.ts';
import { Guard } from '../guard/guard.ts';
import { type GuardOptions, type GuardSettings, resolveGuard } from '../guard/guard-options.ts';
import { type GuardedCall, guardedCall } from '../guard/guarded-call.ts';
import type { PolicyChecker } from '../guard/policy-checks.ts';
import { FactRefusals } from '../reporting/fact-refusals.ts';
import { Counters, Reporter } from '../reporting/reporter.ts';

/** A call to check. */
export interface CheckedCall {
  readonly agentId: string;
  readonly sessionId: string;
  /** Name of the agent's subagent that makes the call. Default: none. */
  readonly subagent?: string | undefined;
  readonly toolName: string;
  readonly arguments: unknown;
  readonly argumentsHash: string;
  readonly framework: string;
  /** W3C `traceparent` of the call; anything else is ignored. Default: none. */
  readonly traceparent?: string | undefined;
  /** Id of the action, the same in repeated checks. */
  readonly actionId: string;
  /** `true` if the process that runs the call takes changed arguments. Default: `false`. */
  readonly acceptsChanges?: boolean | undefined;
}

/** The guard of the recorder, without the recorder: for calls that another process runs. */
export class CallGuard {
  readonly #settings: GuardSettings;
  readonly #guard: Guard;

  /**
   * Checks the options and completes them from the environment.
   *
   * @param policies - `client.policies`; undefined if no service is configured, in which case `onUnavailable` decides
   * @param onError - called with the reason why a check failed
   * @throws RangeError when a number or the name of the environment is invalid
   * @throws TypeError when an option has the wrong type or an unknown value, or `enforce` lacks `onUnavailable`
   */
  constructor(options: GuardOptions, policies: PolicyChecker | undefined, onError: (error: Error) => void) {
    const counters = new Counters();
    const reporter = new Reporter({ onError }, counters);
    this.#settings = resolveGuard(options);
    this.#guard = new Guard(this.#settings, policies, counters, reporter, new FactRefusals(reporter));
  }

  /** `true` if calls run only when the guard allows them. */
  get isEnforcing(): boolean {
    return this.#guard.isEnforcing;
  }

  /** `true` if calls are denied while the service cannot be reached. */
  get isFailClosed(): boolean {
    return this.isEnforcing && this.#settings.onUnavailable === 'deny';
  }

  /**
   * Resolves when the call may run, with the approver's change of its arguments and their hash, if there is one.
   *
   * @param hash - returns the hash of changed arguments
   * @throws ActionDeniedError when it may not run
   */
  async admit(call: CheckedCall, hash: Hash): Promise<AdmittedChange | undefined> {
    const guarded = this.#guarded(call, hash);
    await this.#guard.admit(guarded);
    return guarded.change && { ...guarded.change, argumentsHash: guarded.argumentsHash };
  }

  /**
   * Holds a call for a person's decision, even if no policy requires one, for as long as this process runs and waits.
   *
   * @param hash - returns the hash of changed arguments
   * @param onHeld - called with the id of the held action, so that it can be withdrawn
   * @returns the person's change of the arguments, if there is one; undefined if nobody has decided, for example because the
   *   service cannot be reached or does not hold such calls
   * @throws ActionDeniedError when a person or a policy denied it
   */
  async askPerson(
    call: CheckedCall,
    hash: Hash,
    onHeld: (pendingActionId: string) => void,
  ): Promise<{ readonly change: AdmittedChange | undefined } | undefined> {
    const guarded = this.#guarded(call, hash, { holdSeconds: promptLeaseSeconds, onHeld });
    try {
      await this.#guard.admit(guarded);
    } catch (error) {
      if (ActionDeniedError.isInstance(error) && error.because === 'denied') throw error;
      return undefined;
    }
    // A service that does not know of such holds allows what no policy holds.
    if (guarded.heldBy === undefined) return undefined;
    return { change: guarded.change && { ...guarded.change, argumentsHash: guarded.argumentsHash } };
  }

  #guarded(
    { actionId, argumentsHash, framework, traceparent, ...call }: CheckedCall,
    hash: Hash,
    prompt?: Required<Pick<GuardedCall, 'holdSeconds' | 'onHeld'>>,
  ): GuardedCall {
    return guardedCall(call, {
      ...call,
      actionId,
      argumentsHash,
      framework,
      traceparent: parseTraceparent(traceparent),
      hash,
      ...prompt,
      // The arguments are a copy that never changes.
      hashNow: () => argumentsHash,
      originsNow: () => undefined,
      origins: undefined,
    });
  }
}

/** Time for which a hold of the agent's prompt outlives the hook that waits for it, in seconds. */
const promptLeaseSeconds = 60;

type Hash = (args: unknown) => string | Promise<string>;

/** An approver's change of a call's arguments, with their hash. */
export type AdmittedChange = ApprovedChange & { readonly argumentsHash: string };
