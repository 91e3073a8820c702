import { setTimeout as delay } from 'node:timers/promises';
import { headers as headerNames, limits } from '@actlog/protocol';
import { throwIfAborted } from '../abort.ts';
import type { Counters } from '../counters.ts';
import { publish } from '../diagnostics.ts';
import { createEventId } from '../event-id.ts';
import type { Reporter } from '../reporter.ts';
import { timers } from '../timers.ts';
import { ActionDeniedError, type DeniedBecause } from './action-denied-error.ts';
import type { Decision } from './decision.ts';
import type { GuardSettings } from './guard-settings.ts';
import type { GuardedCall } from './guarded-call.ts';
import { type PolicyChecker, PolicyQuestions } from './policy-questions.ts';
import { watchStandstill } from './standstill.ts';
import { giveBackWaitingTurn, takeWaitingTurn } from './waiting-turns.ts';

/** Waits between two questions about a held call, where the service answers at once instead of waiting. */
const firstPauseMs = 500;
const longestPauseMs = 10_000;
/** Most milliseconds for the answer that is asked for when a hold is over. */
const lastAnswerMs = 1000;
/** How often a call is asked about whose arguments change meanwhile. */
const mostQuestionsAnew = 3;
/** Questions of mode `observe` that may be under way; beyond, calls go unasked. */
const maxObserved = 32;

/** Asks the service before a call runs. */
export class Guard {
  /** Whether a call must wait for {@link admit}. */
  readonly isEnforcing: boolean;
  /** Whether the service is asked at all: by {@link admit}, else by {@link observe}. */
  readonly isAsking: boolean;
  readonly #options: GuardSettings;
  readonly #questions: PolicyQuestions;
  readonly #counters: Counters;
  readonly #reporter: Reporter;
  #observed = 0;

  constructor(
    options: GuardSettings,
    policies: PolicyChecker | undefined,
    counters: Counters,
    reporter: Reporter,
  ) {
    this.isEnforcing = options.mode === 'enforce';
    this.isAsking = this.isEnforcing || (options.mode === 'observe' && policies !== undefined);
    this.#options = options;
    this.#questions = new PolicyQuestions(options, policies, reporter);
    this.#counters = counters;
    this.#reporter = reporter;
  }

  /**
   * Resolves when the call may run with the arguments that it has then; their hash is in the call.
   *
   * @throws ActionDeniedError when it may not
   * @throws the signal's reason when the caller gave up meanwhile
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
      this.#tell(call, outcome, true, startedAtMs);
    }
    if (outcome === 'unavailable') this.#counters.guard.unavailable += 1;
    else this.#counters.guard.allowed += 1;
  }

  /** Asks without making the call wait. */
  async observe(call: GuardedCall): Promise<void> {
    if (this.#observed >= maxObserved) return;
    this.#observed += 1;
    const startedAtMs = timers.now();
    // Nobody would wait for what is held, and an agent that runs what was denied is one that does not obey.
    const headers = { [headerNames.prefer]: 'dry-run' };
    // A caller that goes does not take the question back: the call was made, and what would have come of it counts.
    const asked = { ...call, signal: undefined };
    const decision = await this.#questions.ask(asked, { deadlineMs: this.#options.timeoutMs, headers });
    this.#observed -= 1;
    const { guard } = this.#counters;
    const isAnswer = typeof decision === 'object' && (asked.isShown || decision.decision !== 'allow');
    const outcome = isAnswer ? decision.decision : 'unavailable';
    if (outcome === 'unavailable') guard.unavailable += 1;
    else if (outcome === 'allow') guard.allowed += 1;
    else guard.denied += 1;
    this.#tell(call, outcome, false, startedAtMs);
  }

  /** What is let run is what was asked about: arguments that changed meanwhile are another action. */
  async #decideUnchanged(call: GuardedCall): Promise<'allow' | 'unavailable'> {
    for (let asked = 0; asked < mostQuestionsAnew; asked += 1) {
      const outcome = await this.#decide(call);
      const hash = call.hashNow();
      const hashNow = typeof hash === 'string' ? hash : await hash;
      if (hashNow === call.argumentsHash) return outcome;
      call.argumentsHash = hashNow;
      // Nothing was checked, and the user lets such a call run.
      if (outcome === 'unavailable') return outcome;
      call.actionId = createEventId(Date.now());
      call.isShown = true;
      call.heldBy = undefined;
    }
    this.#reporter.failed(
      'guard-arguments',
      new Error('The arguments of a call changed whenever it was checked; it was not run.'),
    );
    throw this.#denial(call, 'unavailable');
  }

  async #decide(call: GuardedCall): Promise<'allow' | 'unavailable'> {
    let decision = await this.#ask(call);
    let isRenamed = false;
    while (decision === 'refused' || (decision === 'taken' && !isRenamed)) {
      if (decision === 'refused') {
        // Too large or too deep: what a model can make of its arguments must be no way past the guard.
        call.isShown = false;
      } else {
        // The id stands for another action, as when a workflow was resumed with other arguments: this one is new.
        call.actionId = createEventId(Date.now());
        isRenamed = true;
      }
      decision = await this.#ask(call);
    }
    throwIfAborted(call.signal);
    if (decision === 'taken') throw this.#denial(call, 'unavailable');
    // Nobody knows what a condition would have made of arguments that could not be shown.
    if (!call.isShown && decision?.decision === 'allow') decision = undefined;
    if (decision?.decision === 'require_approval') decision = await this.#hold(call, decision);
    if (decision?.decision === 'allow') return 'allow';
    if (decision) throw this.#denial(call, decision.isTimedOut ? 'approval-timed-out' : 'denied', decision);
    if (this.#options.onUnavailable === 'allow') return 'unavailable';
    throw this.#denial(call, 'unavailable');
  }

  /**
   * One question about a call that is not held. It is asked again where this process stood still meanwhile: that no
   * answer was heard says nothing about the service then, and a call that it denied must not run for it.
   */
  async #ask(call: GuardedCall): ReturnType<PolicyQuestions['ask']> {
    const { timeoutMs } = this.#options;
    for (;;) {
      const endWatch = watchStandstill(timeoutMs);
      const decision = await this.#questions.ask(call, { deadlineMs: timeoutMs });
      const stoodStill = endWatch();
      if (decision || !stoodStill || call.signal?.aborted) return decision;
    }
  }

  /**
   * Asks again until somebody decided, for the last time when the hold is over: what was decided until then counts.
   * Whatever else happens, a call that needs approval does not run without.
   */
  async #hold(call: GuardedCall, first: Decision): Promise<Decision> {
    const { holdTimeoutMs } = this.#options;
    if (holdTimeoutMs === 0) throw this.#denial(call, 'approval-timed-out', first);
    call.heldBy = first.policyId;
    const endsAtMs = timers.now() + holdTimeoutMs;
    let pauseMs = firstPauseMs;
    for (;;) {
      const askedAtMs = timers.now();
      const leftMs = endsAtMs - askedAtMs;
      const hasTurn = leftMs >= 1000 && takeWaitingTurn();
      const decision = await this.#askAgain(call, leftMs, hasTurn);
      throwIfAborted(call.signal);
      if (typeof decision === 'object' && decision.decision !== 'require_approval') return decision;
      if (leftMs <= 0) throw this.#denial(call, 'approval-timed-out', first);
      // A service that waited with its answer is asked again at once; any other is not pressed.
      if (hasTurn && decision && timers.now() - askedAtMs >= 1000) continue;
      const restMs = Math.max(0, endsAtMs - timers.now());
      await this.#pause(Math.min(restMs, pauseMs * (0.5 + Math.random() / 2)), call.signal);
      pauseMs = Math.min(longestPauseMs, pauseMs * 2);
    }
  }

  /** One question about a held call; the service waits with its answer where there is a turn for that. */
  async #askAgain(call: GuardedCall, leftMs: number, hasTurn: boolean): ReturnType<PolicyQuestions['ask']> {
    const waitSeconds = hasTurn ? Math.min(limits.maxWaitSeconds, Math.floor(leftMs / 1000)) : 0;
    try {
      return await this.#questions.ask(call, {
        ...(hasTurn ? { headers: { [headerNames.prefer]: `wait=${waitSeconds}` } } : {}),
        timeoutMs: waitSeconds * 1000 + this.#options.timeoutMs,
        deadlineMs: leftMs > 0 ? leftMs : lastAnswerMs,
      });
    } finally {
      if (hasTurn) giveBackWaitingTurn();
    }
  }

  async #pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
    // Its own error would hide the caller's reason.
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
      pendingActionId: decision?.pendingActionId,
      reason: decision?.reason,
    });
  }

  #tell({ toolName }: GuardedCall, decision: string, isEnforced: boolean, startedAtMs: number): void {
    publish('guarded', () => ({
      toolName,
      decision,
      isEnforced,
      durationMs: timers.now() - startedAtMs,
    }));
  }
}
