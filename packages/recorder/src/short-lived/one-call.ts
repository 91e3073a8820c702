import type { Actlog } from '@actlog/client';
import { parseTraceparent } from '@actlog/tool-call';
import { tenantSecret } from '../delivery/session-queues.ts';
import { isoTimestamp } from '../events/event.ts';
import type { ApprovedChange } from '../events/tool-call.ts';
import { ActionDeniedError } from '../guard/action-denied-error.ts';
import { Guard } from '../guard/guard.ts';
import { type GuardOptions, type GuardSettings, resolveGuard } from '../guard/guard-options.ts';
import { type GuardedCall, guardedCall } from '../guard/guarded-call.ts';
import type { PolicyChecker } from '../guard/policy-checks.ts';
import type { Journal } from '../journal/journal.ts';
import { journalFolder, openJournal } from '../journal/open-journal.ts';
import { environmentVariable } from '../lib/option-checks.ts';
import { EventRecorder } from '../recording/event-recorder.ts';
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

/** Size limit of the journal of one process, in bytes. */
const maxSpoolBytes = 256 * 1024 * 1024;

/** Options of a {@link SpoolWriter}. */
export interface SpoolWriterOptions {
  /** Client of the service that the events are for. It is not connected. */
  readonly client: Actlog;
  /** Name of the agent's program, as the framework. */
  readonly framework: string;
  /** Identifier and version of the integration. */
  readonly sdk: string;
  /** Called when an event could not be written. */
  readonly onError: (error: Error) => void;
}

/** An ended call, as written to the spool. */
export interface SpooledCall {
  /** Id of the event. An event written twice under one id is stored once. */
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Name of the agent's subagent that made the call. Default: none. */
  readonly subagent?: string | undefined;
  readonly toolName: string;
  readonly argumentsHash: string;
  /** W3C `traceparent` of the call; anything else is ignored. Default: none. */
  readonly traceparent?: string | undefined;
  /** HTTP status of the outcome. */
  readonly responseStatus: number;
  /** Time at which the call ended, in Unix milliseconds. */
  readonly atMs: number;
}

/**
 * Writes events to the spool folder, from which any recorder of the same tenant delivers them. The journal is created
 * by the first event and released by `close()`; if the process is killed before, its events are taken over too.
 */
export class SpoolWriter {
  readonly #options: SpoolWriterOptions;
  readonly #reporter: Reporter;
  readonly #events: EventRecorder;
  #journal: Journal | undefined;
  /** Result of the last write. */
  #isWritten = false;
  #hasWritten = false;

  constructor(options: SpoolWriterOptions) {
    const { framework, sdk, onError } = options;
    this.#options = options;
    this.#reporter = new Reporter({ onError }, new Counters());
    this.#events = new EventRecorder({
      agentId: framework,
      agentVersion: undefined,
      framework,
      sdk,
      outbox: {
        add: (event, nowMs) => {
          this.#isWritten = this.#open()?.append(event, false, nowMs) ?? false;
        },
      },
      reporter: this.#reporter,
      onRecorded: () => {},
    });
  }

  /** `true` if an event was written. */
  get hasWritten(): boolean {
    return this.#hasWritten;
  }

  /** Writes an event. Returns `true` if it is on disk; otherwise the error was passed to `onError`. */
  write({ eventId, atMs, agentId, toolName, subagent, traceparent, ...facts }: SpooledCall): boolean {
    this.#isWritten = false;
    const source = { agentId, toolName };
    const sourceTimestamp = isoTimestamp(atMs);
    this.#events.add(eventId, Date.now(), source, {
      ...facts,
      sourceTimestamp,
      traceparent: parseTraceparent(traceparent),
    });
    const isWritten = this.#isWritten;
    const about = { callEventId: eventId, sessionId: facts.sessionId, sourceTimestamp };
    if (isWritten) this.#events.addPlace(Date.now(), source, about, { subagent });
    this.#hasWritten ||= isWritten;
    return isWritten;
  }

  /** Leaves the written events to the next recorder. */
  close(): void {
    this.#journal?.close();
    this.#journal = undefined;
  }

  #open(): Journal | undefined {
    const { client } = this.#options;
    const secret = tenantSecret(client, environmentVariable('ACTLOG_TENANT'));
    this.#journal ??= openJournal({ maxSpoolBytes }, secret, new Counters(), this.#reporter)?.journal;
    return this.#journal;
  }
}

/**
 * Creates and returns the spool folder that recorders with the same key and address use.
 *
 * @throws UntrustedFileError when another user can change it
 * @throws the system's error when it cannot be created
 */
export function tenantSpoolFolder(client: Actlog): string {
  return journalFolder(undefined, tenantSecret(client, environmentVariable('ACTLOG_TENANT')));
}
