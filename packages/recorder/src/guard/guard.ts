import { setTimeout as delay } from 'node:timers/promises';
import type { Actlog, Clock } from '@actlog/client';
import type { Transport } from '@actlog/client/transport';
import {
  type ArgumentChanges,
  type ArgumentOrigins,
  changeCallArguments,
  headers as headerNames,
  limits,
  type PolicyCheck,
  stringifyExactJson,
} from '@actlog/protocol';
import { noHash } from '@actlog/tool-call';
import { createEventId } from '../events/event.ts';
import { processWide } from '../lib/process-wide.ts';
import { detached, throwIfAborted, timers } from '../lib/timers.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import { type Counters, publish, type Reporter } from '../reporting/reporter.ts';
import { ActionDeniedError, type DeniedBecause } from './action-denied-error.ts';
import { schemaProblem } from './argument-schema.ts';
import type { GuardSettings } from './guard-options.ts';
import type { Decision, GuardedCall } from './guarded-call.ts';
import { type ChangedAction, type CheckOptions, type PolicyChecker, PolicyChecks } from './policy-checks.ts';

/** Number of connections for checks that nobody waits for. */
const connections = 8;

/** Node's clock, which a test with fake timers does not stop. */
export const nodeClock: Clock = {
  now: () => timers.now(),
  wallClock: () => Date.now(),
  setTimeout: (callback, delayMs) => timers.setTimeout(callback, delayMs),
  clearTimeout: (timer) => timers.clearTimeout(timer as NodeJS.Timeout),
  random: () => Math.random(),
};

/** The same, with timers that do not keep the process alive. */
const unreferencedClock: Clock = {
  ...nodeClock,
  setTimeout: (callback, delayMs) => timers.setTimeout(callback, delayMs).unref(),
};

/**
 * Checks without keeping the process alive: an unresponsive service would otherwise block an agent that is done. If the
 * user configured the transport, it is used unchanged.
 */
export class UnreferencedChecks implements PolicyChecker {
  readonly #client: Actlog;
  readonly #running = new Set<Promise<unknown>>();
  #connection: Promise<Connection> | undefined;

  constructor(client: Actlog) {
    this.#client = client;
  }

  check(body: PolicyCheck, options: CheckOptions): Promise<unknown> {
    this.#connection ??= detached(() => this.#connect());
    const response = this.#connection.then(({ policies }) => policies.check(body, options));
    this.#running.add(response);
    return response.finally(() => this.#running.delete(response));
  }

  /** Closes the connections when the running checks have ended. A later check opens new ones. */
  async close(): Promise<void> {
    const connection = this.#connection;
    this.#connection = undefined;
    await Promise.allSettled(this.#running);
    // A failure to connect was reported by the checks.
    await connection?.then(({ transport }) => transport.close?.()).catch(() => {});
  }

  async #connect(): Promise<Connection> {
    const transport = await this.#client.openTransport(connections);
    const client = this.#client.withOptions({ clock: unreferencedClock, transport });
    return { policies: client.policies, transport };
  }
}

/** Connection of the checks. */
interface Connection {
  readonly policies: PolicyChecker;
  readonly transport: Transport;
}

/** Interval of the checks in milliseconds. Timers are always slightly late, which is not a stall. */
const minIntervalMs = 20;
const maxIntervalMs = 1000;

/**
 * Detects stalls of the event loop, for example by a blocking tool or a sleeping machine. Responses that arrive
 * meanwhile are noticed too late, after the timeout.
 *
 * @param timeMs - time limit of the operation that is being awaited
 * @returns a function that stops watching and returns `true` if the event loop was stalled for half of that time or
 * more
 */
function watchEventLoopStall(timeMs: number): () => boolean {
  const intervalMs = Math.min(Math.max(timeMs / 10, minIntervalMs), maxIntervalMs);
  let checkedAtMs = timers.now();
  let stalledMs = 0;
  const check = () => {
    const nowMs = timers.now();
    stalledMs += Math.max(0, nowMs - checkedAtMs - intervalMs);
    checkedAtMs = nowMs;
  };
  const timer = timers.setInterval(check, intervalMs).unref();
  return () => {
    timers.clearInterval(timer);
    check();
    return stalledMs >= timeMs / 2;
  };
}

/** Delays between checks of a held call, in milliseconds, if the service responds at once instead of waiting. */
const initialPauseMs = 500;
const maxPauseMs = 10_000;
/** Time limit of the final check when a hold ends, in milliseconds. */
const finalCheckMs = 1000;
/** Maximum number of checks of a call whose arguments keep changing. */
const maxChecksOfChangedCall = 3;
/** Maximum number of concurrent checks in mode `observe`; further calls are not checked. */
const maxObserved = 32;

/** Checks calls with the service before they run. */
export class Guard {
  /** `true` if calls must wait for {@link admit}. */
  readonly isEnforcing: boolean;
  /** `true` if calls are checked, by {@link admit} or {@link observe}. */
  readonly isAsking: boolean;
  readonly #options: GuardSettings;
  readonly #questions: PolicyChecks;
  readonly #counters: Counters;
  readonly #reporter: Reporter;
  #observed = 0;

  constructor(
    options: GuardSettings,
    policies: PolicyChecker | undefined,
    counters: Counters,
    reporter: Reporter,
    refusals: FactRefusals,
  ) {
    this.isEnforcing = options.mode === 'enforce';
    this.isAsking = this.isEnforcing || (options.mode === 'observe' && policies !== undefined);
    this.#options = options;
    this.#questions = new PolicyChecks(options, policies, reporter, refusals);
    this.#counters = counters;
    this.#reporter = reporter;
  }

  /**
   * Resolves when the call may run with its current arguments, whose hash is in the call, or with the ones in `call.change`.
   *
   * @throws ActionDeniedError when it may not run
   * @throws the signal's reason when the caller aborted
   */
  async admit(call: GuardedCall): Promise<void> {
    const startedAtMs = timers.now();
    let outcome = 'aborted';
    try {
      outcome = await this.#decideUnchanged(call);
    } catch (error) {
      if (ActionDeniedError.isInstance(error)) outcome = error.because;
      throw error;
    } finally {
      this.#publish(call, outcome, true, startedAtMs);
    }
    if (outcome === 'unavailable') this.#counters.guard.unavailable += 1;
    else this.#counters.guard.allowed += 1;
  }

  /** Checks a call without making it wait. */
  async observe(call: GuardedCall): Promise<void> {
    if (this.#observed >= maxObserved) return;
    this.#observed += 1;
    const startedAtMs = timers.now();
    // Nobody would wait for a held action, and an agent that runs a denied action would look disobedient.
    const headers = { [headerNames.prefer]: 'dry-run' };
    // An abort does not cancel the check: the call was made, and the result counts.
    const observed = { ...call, signal: undefined };
    const decision = await this.#questions.ask(observed, { deadlineMs: this.#options.timeoutMs, headers });
    this.#observed -= 1;
    const { guard } = this.#counters;
    const isValid = typeof decision === 'object' && (observed.isShown || decision.decision !== 'allow');
    const outcome = isValid ? decision.decision : 'unavailable';
    if (outcome === 'unavailable') guard.unavailable += 1;
    else if (outcome === 'allow') guard.allowed += 1;
    else guard.denied += 1;
    this.#publish(call, outcome, false, startedAtMs);
  }

  /** Allows exactly what was checked: arguments changed meanwhile are another action. */
  async #decideUnchanged(call: GuardedCall): Promise<'allow' | 'unavailable'> {
    for (let attempt = 0; attempt < maxChecksOfChangedCall; attempt += 1) {
      const outcome = await this.#decide(call);
      if (call.change) return 'allow';
      const hash = call.hashNow();
      const hashNow = typeof hash === 'string' ? hash : await hash;
      if (hashNow === call.argumentsHash && outcome !== 'changed meanwhile') return outcome;
      call.argumentsHash = hashNow;
      call.origins = call.originsNow();
      // Nothing was checked, and the user lets such a call run.
      if (outcome === 'unavailable') return outcome;
      call.actionId = createEventId(Date.now());
      call.changedFrom = undefined;
      call.isShown = true;
      call.heldBy = undefined;
    }
    this.#reporter.failed(
      'guard-arguments',
      new Error('The arguments of a call changed during every check; it was not run.'),
    );
    throw this.#denial(call, 'unavailable');
  }

  async #decide(call: GuardedCall): Promise<'allow' | 'unavailable' | 'changed meanwhile'> {
    let decision = await this.#ask(call);
    let isRenamed = false;
    while (decision === 'refused' || (decision === 'taken' && !isRenamed)) {
      if (decision === 'refused') {
        // Too large or too deep. A model must not be able to bypass the guard with such arguments.
        call.isShown = false;
      } else {
        // The id belongs to another action, for example when a workflow was resumed with other arguments: use a new
        // one.
        call.actionId = createEventId(Date.now());
        call.changedFrom = undefined;
        isRenamed = true;
      }
      decision = await this.#ask(call);
    }
    throwIfAborted(call.signal);
    // The service was reached but could not hold or count the call, rejected its agent, or decided in words unknown to the
    // guard, which may mean a denial. None of these is a case for `onUnavailable`.
    if (typeof decision === 'string') {
      throw this.#denial(call, 'unavailable');
    }
    // The result of a condition on arguments that could not be sent is unknown.
    if (!call.isShown && decision?.decision === 'allow') decision = undefined;
    if (decision?.decision === 'require_approval') decision = await this.#hold(call, decision);
    if (decision?.decision === 'allow') return 'allow';
    if (decision?.changedArguments) return this.#admitChanged(call, decision, decision.changedArguments);
    if (decision) throw this.#denial(call, decision.isTimedOut ? 'approval-timed-out' : 'denied', decision);
    if (this.#options.onUnavailable === 'allow') return 'unavailable';
    throw this.#denial(call, 'unavailable');
  }

  /**
   * Resolves when a call may run with the arguments that an approver changed. The service checks these, too. In no case does
   * the call run with the requested ones.
   */
  async #admitChanged(
    call: GuardedCall,
    approved: Decision,
    changes: ArgumentChanges,
  ): Promise<'allow' | 'changed meanwhile'> {
    const refuse = (reason: string) => this.#denial(call, 'denied', { ...approved, reason });
    if (!call.acceptsChanges) {
      throw refuse(
        'It was approved with changed arguments only, and this framework cannot run changed arguments.',
      );
    }
    const shown = this.#questions.shownOf(call);
    const changed = changeCallArguments(call.arguments, shown, changes);
    const changedShown = changeCallArguments(shown, shown, changes);
    const bad = [changed, changedShown].find((result) => 'problem' in result);
    if (bad && 'problem' in bad) {
      throw refuse(
        `It was approved with changed arguments only, and ${bad.problem.path} ${bad.problem.message}.`,
      );
    }
    const { arguments: args } = changed as { arguments: unknown };
    const problem = await schemaProblem(call.schema, args);
    if (problem !== undefined) throw refuse(`It was approved with changed arguments only, and ${problem}.`);
    const changedFrom = call.argumentsHash;
    const argumentsHash = await call.hash(args);
    // What the approver saw is not what was changed.
    if ((await call.hashNow()) !== changedFrom) return 'changed meanwhile';
    if (argumentsHash === noHash) throw this.#denial(call, 'unavailable');
    const origins = call.origins && originsOfChanged(call.origins, changes);
    const action = {
      ...(changedShown as { arguments: Record<string, unknown> }),
      argumentsHash,
      changedFrom,
    };
    const decision = await this.#askChanged(call, { ...action, ...(origins && { origins }) });
    throwIfAborted(call.signal);
    if (decision?.decision === 'deny') throw this.#denial(call, 'denied', decision);
    // The copy may have parts in common with the requested arguments.
    if (decision?.decision !== 'allow' || (await call.hash(args)) !== argumentsHash) {
      throw this.#denial(call, 'unavailable');
    }
    call.change = { arguments: args, changes, notice: changeNotice(changes, approved.reason) };
    call.argumentsHash = argumentsHash;
    call.changedFrom = changedFrom;
    call.origins = origins;
    return 'allow';
  }

  /** Checks changed arguments, again until the service responds or the time for a held call is over. */
  async #askChanged(call: GuardedCall, changed: ChangedAction): Promise<Decision | undefined> {
    const endsAtMs = timers.now() + this.#options.holdTimeoutMs;
    for (let pauseMs = initialPauseMs; ; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
      const decision = await this.#ask(call, changed);
      if (typeof decision === 'object') return decision;
      const leftMs = endsAtMs - timers.now();
      if (decision !== undefined || leftMs <= 0) return undefined;
      await this.#pause(Math.min(pauseMs, leftMs), call.signal);
    }
  }

  /**
   * Checks a call that is not held. Repeats the check if the event loop was stalled meanwhile: a missing response then
   * says nothing about the service, and a denied call must not run because of it.
   */
  async #ask(call: GuardedCall, changed?: ChangedAction): ReturnType<PolicyChecks['ask']> {
    const { timeoutMs } = this.#options;
    for (;;) {
      const endWatch = watchEventLoopStall(timeoutMs);
      const decision = await this.#questions.ask(call, { deadlineMs: timeoutMs }, changed);
      const wasStalled = endWatch();
      if (decision || !wasStalled || call.signal?.aborted) return decision;
    }
  }

  /**
   * Checks a held call until it is decided, for the last time when the hold ends, so that decisions made by then count.
   * In no case does a call that needs approval run without it.
   */
  async #hold(call: GuardedCall, first: Decision): Promise<Decision> {
    const { holdTimeoutMs } = this.#options;
    if (first.pendingActionId !== undefined) call.onHeld?.(first.pendingActionId);
    if (holdTimeoutMs === 0) throw this.#denial(call, 'approval-timed-out', first);
    call.heldBy = first;
    const endsAtMs = timers.now() + holdTimeoutMs;
    let pauseMs = initialPauseMs;
    for (;;) {
      const checkedAtMs = timers.now();
      const leftMs = endsAtMs - checkedAtMs;
      const hasWaitSlot = leftMs >= 1000 && acquireWaitSlot();
      const decision = await this.#checkHeld(call, leftMs, hasWaitSlot);
      throwIfAborted(call.signal);
      if (typeof decision === 'object' && decision.decision !== 'require_approval') return decision;
      if (leftMs <= 0) throw this.#denial(call, 'approval-timed-out', first);
      // If the service waited before it responded, check again at once; otherwise pause.
      if (hasWaitSlot && decision && timers.now() - checkedAtMs >= 1000) continue;
      const restMs = Math.max(0, endsAtMs - timers.now());
      await this.#pause(Math.min(restMs, pauseMs * (0.5 + Math.random() / 2)), call.signal);
      pauseMs = Math.min(maxPauseMs, pauseMs * 2);
    }
  }

  /** Checks a held call once. The service waits before it responds if a wait slot is free. */
  async #checkHeld(call: GuardedCall, leftMs: number, hasWaitSlot: boolean): ReturnType<PolicyChecks['ask']> {
    const waitSeconds = hasWaitSlot ? Math.min(limits.maxWaitSeconds, Math.floor(leftMs / 1000)) : 0;
    try {
      return await this.#questions.ask(call, {
        ...(hasWaitSlot ? { headers: { [headerNames.prefer]: `wait=${waitSeconds}` } } : {}),
        timeoutMs: waitSeconds * 1000 + this.#options.timeoutMs,
        deadlineMs: leftMs > 0 ? leftMs : finalCheckMs,
      });
    } finally {
      if (hasWaitSlot) releaseWaitSlot();
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    // The error of `delay` would hide the caller's reason.
    await delay(ms, undefined, signal ? { signal } : {}).catch(() => {});
    throwIfAborted(signal);
  }

  #denial(call: GuardedCall, because: DeniedBecause, decision?: Decision): ActionDeniedError {
    this.#counters.guard[because === 'unavailable' ? 'unavailable' : 'denied'] += 1;
    return new ActionDeniedError({
      toolName: call.toolName,
      because,
      decision: decision?.decision === 'allow' ? undefined : decision?.decision,
      deniedBy: decision?.deniedBy,
      policyId: decision?.policyId,
      policyName: decision?.policyName,
      pendingActionId: decision?.pendingActionId,
      reason: decision?.reason,
    });
  }

  #publish({ toolName }: GuardedCall, decision: string, isEnforced: boolean, startedAtMs: number): void {
    publish('guarded', () => ({
      toolName,
      decision,
      isEnforced,
      durationMs: timers.now() - startedAtMs,
    }));
  }
}

/** Maximum length of changed values in the sentence for the model, in characters. */
const maxNoticeLength = 2000;

/** Returns the sentence for the model about changed arguments. */
function changeNotice(changes: ArgumentChanges, comment: string | undefined): string {
  const values = Object.entries(changes).map(([path, value]) => `${path} = ${stringifyExactJson(value)}`);
  const text = values.join(', ').slice(0, maxNoticeLength);
  const words = comment ? ` ${comment.trim().replace(/\.?$/, '.')}` : '';
  return `Note: the person who approved this call changed its arguments before it ran: ${text}.${words}`;
}

/** Returns the origins of arguments after an approver changed some of them. */
function originsOfChanged(origins: ArgumentOrigins, changes: ArgumentChanges): ArgumentOrigins {
  const paths = Object.keys(changes);
  const kept = Object.entries(origins).filter(
    ([path]) => !paths.some((changed) => path === changed || path.startsWith(`${changed}.`)),
  );
  return Object.fromEntries([...kept, ...paths.map((path) => [path, { from: 'approver' as const }])]);
}

/** Maximum number of waiting checks in the process: half of the connections that the client opens to a service. */
const maxWaiting = 128;

const waiting = processWide('@actlog/recorder/waiting-calls', () => ({ count: 0 }));

/**
 * Acquires a slot for a check of a held call that makes the service wait, and thereby occupies a connection. Without a
 * limit, many held calls would leave no connections for other checks. Returns `false` if no slot is free.
 */
function acquireWaitSlot(): boolean {
  if (waiting().count >= maxWaiting) return false;
  waiting().count += 1;
  return true;
}

/** Releases a slot of {@link acquireWaitSlot}. */
function releaseWaitSlot(): void {
  waiting().count -= 1;
}
