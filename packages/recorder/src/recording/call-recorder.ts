import type { ArgumentOrigins } from '@actlog/protocol';
import {
  type ArgumentsHasher,
  noHash,
  parseTraceparent,
  type ResponseStatusMapping,
  type ToolOutcome,
  toIdentifier,
} from '@actlog/tool-call';
import { createEventId, isEventId, isoTimestamp } from '../events/event.ts';
import {
  type AnnouncedCall,
  type ApprovedChange,
  checkToolCall,
  type RunCall,
  type ToolCall,
  type ToolCallFacts,
} from '../events/tool-call.ts';
import type { Guard } from '../guard/guard.ts';
import { guardedCall } from '../guard/guarded-call.ts';
import { checkSignal, throwIfAborted } from '../lib/timers.ts';
import type { SessionOrigins, TextAuthor } from '../origins/session-origins.ts';
import type { Outbox } from '../outbox/outbox.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import {
  type ActiveCall,
  CallOrigins,
  claimSameCall,
  currentCall,
  endCall,
  rememberResult,
  runAsCall,
  tellOuter,
} from './active-call.ts';
import { CallStatus, EventRecorder, type EventRecorderOptions, statusOfRefusal } from './event-recorder.ts';

import { activeTraceparent, currentSessionId } from './recorder-session.ts';

/** Dependencies of a {@link CallRecorder}. */
export interface CallRecorderOptions extends EventRecorderOptions {
  readonly outbox: Outbox | undefined;
  readonly blockTimeoutMs: number;
  readonly responseStatus: ResponseStatusMapping | undefined;
  readonly hasher: ArgumentsHasher;
  /** Terms for calls of the recorder itself. */
  readonly terms: CallTerms;
  readonly refusals: FactRefusals;
}

/** Guard and origins of a call, which an adapter may replace. */
export interface CallTerms {
  readonly guard: Guard;
  /** Undefined if argument origins are not traced. */
  readonly origins: SessionOrigins | undefined;
}

/** Runs calls if their guard allows them, and records their outcomes. */
export class CallRecorder {
  readonly #options: CallRecorderOptions;
  /** Session of calls without another one. */
  readonly #ownSessionId = createEventId(Date.now());
  readonly #events: EventRecorder;
  readonly #status: CallStatus;
  readonly #origins: CallOrigins;

  constructor(options: CallRecorderOptions) {
    this.#options = options;
    this.#events = new EventRecorder(options);
    this.#status = new CallStatus(options.responseStatus, options.reporter);
    this.#origins = new CallOrigins(this.#events, options.refusals);
  }

  /** Seals the sessions with events since their last seal; with `isLast`, all sessions. */
  seal(isLast: boolean): void {
    this.#events.seal(isLast);
  }

  /**
   * Runs and records a call.
   *
   * @param terms - terms of the adapter that the call comes through; default: the recorder's
   */
  async toolCall<Result>(
    call: ToolCall,
    run: RunCall<Result>,
    terms: CallTerms = this.#options.terms,
  ): Promise<Result> {
    checkToolCall(call, run);
    const { outbox } = this.#options;
    const { guard, origins } = terms;
    if (!outbox && !guard.isEnforcing) return run(call.arguments, undefined);
    const hash = this.#hash(call.arguments);
    const argumentsHash = typeof hash === 'string' ? hash : await hash;
    const framework = call.framework ?? this.#options.framework;
    const outer = currentCall();
    let same =
      argumentsHash === noHash
        ? undefined
        : claimSameCall(outer, this, call.toolName, argumentsHash, call.callId, framework);
    const releaseRoom =
      !same && outbox?.isBlocking
        ? await outbox.waitForRoom(call.signal, this.#options.blockTimeoutMs)
        : undefined;
    // A call of other arguments, or under another name, is not the one that was announced.
    const isAnnounced =
      !same &&
      argumentsHash !== noHash &&
      call.announced?.argumentsHash === argumentsHash &&
      call.announced.toolName === call.toolName;
    const announced = isAnnounced ? call.announced : undefined;
    const sessionId =
      same?.sessionId ?? announced?.sessionId ?? call.sessionId ?? currentSessionId() ?? this.#ownSessionId;
    const agentId = announced?.agentId ?? call.agentId ?? same?.agentId ?? this.#options.agentId;
    const active: ActiveCall = {
      recordedBy: this,
      ...(announced ? placeOfAnnounced(announced) : this.#placeOf(call, agentId, same, outer)),
      toolName: call.toolName,
      argumentsHash,
      changedFrom: same?.changedFrom ?? announced?.changedFrom,
      traceparent: same?.traceparent ?? this.#traceparentOf(call.traceparent),
      callId: call.callId,
      framework,
      agentId,
      sessionId,
      guard,
      actionId: same?.actionId ?? announced?.actionId,
      outer,
      inner: undefined,
      isOpen: true,
      refusedWith: undefined,
      origins,
      trace: same ? same.trace : announced?.origins ? undefined : origins?.trace(sessionId, call.arguments),
      event: announced && { eventId: announced.eventId },
    };
    if (same) same.inner = active;
    let change: ApprovedChange | undefined;
    try {
      if (guard.isAsking && same?.guard !== guard) {
        change = await this.#pass(call, active, terms, announced?.origins);
        // Check here, because nothing can happen between this line and the call.
        if (guard.isEnforcing) throwIfAborted(call.signal);
      }
    } catch (error) {
      releaseRoom?.();
      active.refusedWith = statusOfRefusal(error);
      if (same) tellOuter(same, active);
      else this.#recordCall(call, active, active.refusedWith);
      throw error;
    }
    if (same && !active.isOpen) {
      // The outer hook has recorded the end of the call, for example after a timeout, while this one was held: it runs
      // as a separate call.
      same = undefined;
      active.isOpen = true;
    }
    let result: Result;
    try {
      result = await runAsCall(active, run, change ? change.arguments : call.arguments, change);
    } catch (error) {
      endCall(active);
      releaseRoom?.();
      this.#conclude(call, active, same, { ok: false, error });
      throw error;
    }
    endCall(active);
    releaseRoom?.();
    this.#conclude(call, active, same, { ok: true, result });
    return result;
  }

  /** Remembers what the user or the developer wrote, to trace argument origins. */
  noteText(
    author: TextAuthor,
    text: string,
    sessionId?: string,
    { origins }: CallTerms = this.#options.terms,
  ): void {
    if (typeof text !== 'string') return;
    origins?.noteText(sessionId ?? currentSessionId() ?? this.#ownSessionId, author, text);
  }

  record(facts: ToolCallFacts, { origins }: CallTerms = this.#options.terms): string {
    const nowMs = Date.now();
    const eventId = createEventId(nowMs);
    try {
      const argumentsHash = facts.argumentsHash ?? this.#options.hasher.hashSync(facts.arguments);
      const sessionId = facts.sessionId ?? currentSessionId() ?? this.#ownSessionId;
      const sourceTimestamp = timestampOf(facts.sourceTimestamp, nowMs);
      this.#events.add(eventId, nowMs, facts, {
        argumentsHash: toIdentifier(argumentsHash, noHash),
        sessionId,
        responseStatus: facts.responseStatus,
        sourceTimestamp,
        traceparent: this.#traceparentOf(facts.traceparent),
      });
      this.#events.addPlace(nowMs, facts, { callEventId: eventId, sessionId, sourceTimestamp }, facts);
      if (origins === undefined) return eventId;
      const trace = facts.argumentsHash === undefined ? origins.trace(sessionId, facts.arguments) : undefined;
      this.#origins.report(nowMs, facts, { callEventId: eventId, sessionId, sourceTimestamp }, trace);
      const traced = { toolName: toIdentifier(facts.toolName, 'unknown'), eventId };
      if (facts.result !== undefined) origins.rememberResult(sessionId, traced, () => facts.result, trace);
    } catch (error) {
      this.#options.reporter.failed('record', new Error('An event could not be recorded.', { cause: error }));
    }
    return eventId;
  }

  /** Returns the innermost running call of this recorder. */
  currentCall(): ActiveCall | undefined {
    let call = currentCall();
    while (call && call.recordedBy !== this) call = call.outer;
    return call;
  }

  /** Reports an error that occurred around a call. */
  failed(kind: string, error: Error): void {
    this.#options.reporter.failed(kind, error);
  }

  /** Returns the subagent and the agents around the agent of a call, which may run inside calls of other agents. */
  #placeOf(
    call: ToolCall,
    agentId: string,
    same: ActiveCall | undefined,
    outer: ActiveCall | undefined,
  ): Pick<ActiveCall, 'agentName' | 'subagent' | 'parentAgentIds'> {
    const { agentName } = call;
    let around = same ?? outer;
    while (around && around.recordedBy !== this) around = around.outer;
    // A call that names no agent is one of a tool, not of an agent in it.
    if (same === undefined && call.agentId === undefined) around = undefined;
    const above = around ? [around.agentId, ...around.parentAgentIds] : [];
    const parents = new Set([...(call.parentAgentIds ?? []), ...above]);
    parents.delete(agentId);
    const outerName = around?.agentId === agentId ? around.agentName : undefined;
    const isNamed = agentName !== undefined && outerName !== undefined && agentName !== outerName;
    const inherited = around?.agentId === agentId ? around.subagent : undefined;
    return {
      agentName: agentName ?? same?.agentName,
      subagent: call.subagent ?? (isNamed ? agentName : inherited),
      parentAgentIds: [...parents],
    };
  }

  /** Returns the `traceparent` of a call that states this one. Never throws. */
  #traceparentOf(stated: string | undefined): string | undefined {
    const traceparent = stated === undefined ? undefined : parseTraceparent(stated);
    if (stated !== undefined && traceparent === undefined) {
      const problem =
        'A call has a traceparent that is not one of W3C Trace Context, such as 00-<32 hex digits>-<16 hex digits>-01; it was left out.';
      this.#options.reporter.failed('traceparent', new TypeError(problem));
    }
    return traceparent ?? activeTraceparent();
  }

  #hash(args: unknown): string | Promise<string> {
    try {
      const hash = this.#options.hasher.hash(args);
      return typeof hash === 'string' ? hash : hash.catch((error) => this.#hashFailed(error));
    } catch (error) {
      return this.#hashFailed(error);
    }
  }

  #hashFailed(cause: unknown): string {
    this.#options.reporter.failed('hash', new Error('Arguments could not be hashed.', { cause }));
    return noHash;
  }

  /** Resolves when the guard allows the call, with the approver's change of its arguments, if there is one. */
  async #pass(
    call: ToolCall,
    active: ActiveCall,
    { guard, origins }: CallTerms,
    announcedOrigins: ArgumentOrigins | undefined,
  ): Promise<ApprovedChange | undefined> {
    const hash = (args: unknown) => this.#hash(args);
    const hashNow = () => this.#hash(call.arguments);
    const originsNow = () => {
      active.trace = origins?.trace(active.sessionId, call.arguments);
      return active.trace?.origins;
    };
    const guarded = guardedCall(call, {
      ...active,
      hash,
      hashNow,
      originsNow,
      origins: announcedOrigins ?? active.trace?.origins,
    });
    const isGiven = active.actionId !== undefined || !isOwnAction(call);
    const firstId = guarded.actionId;
    active.actionId = guarded.actionId;
    if (!guard.isEnforcing) {
      void guard.observe(guarded);
      return undefined;
    }
    checkSignal(call.signal);
    throwIfAborted(call.signal);
    try {
      await guard.admit(guarded);
      if (!isGiven || guarded.actionId !== firstId) active.checkedAs = guarded.actionId;
      const { change, origins: changed } = guarded;
      if (change && changed && active.trace) active.trace = { ...active.trace, origins: changed };
      return change;
    } finally {
      active.actionId = guarded.actionId;
      active.argumentsHash = guarded.argumentsHash;
      active.changedFrom = guarded.changedFrom;
    }
  }

  /** @param same - the call as seen by an outer hook, which then records it */
  #conclude(call: ToolCall, active: ActiveCall, same: ActiveCall | undefined, outcome: ToolOutcome): void {
    if (same) {
      tellOuter(same, active);
      return;
    }
    const status = active.refusedWith ?? this.#status.of(call, outcome);
    const eventId = status === null ? undefined : this.#recordCall(call, active, status);
    rememberResult(call, active, eventId, outcome);
  }

  /** Records a call. Errors in here must not change how the call ends. */
  #recordCall(call: ToolCall, active: ActiveCall, responseStatus: number): string | undefined {
    try {
      const { agentId, toolName, framework, argumentsHash, sessionId, traceparent } = active;
      const nowMs = Date.now();
      const eventId = active.event?.eventId ?? active.checkedAs ?? createEventId(nowMs);
      const atMs = active.event?.recordedAtMs ?? nowMs;
      const sourceTimestamp = isoTimestamp(atMs);
      const source = { agentId, toolName, framework, sdk: call.sdk };
      const facts = { argumentsHash, sessionId, responseStatus, sourceTimestamp, traceparent };
      this.#events.add(eventId, nowMs, source, facts);
      this.#origins.report(nowMs, source, { ...facts, callEventId: eventId }, active.trace);
      this.#events.addPlace(nowMs, source, { ...facts, callEventId: eventId }, active);
      call.onRecorded?.({ responseStatus, atMs });
      return eventId;
    } catch (error) {
      this.#options.reporter.failed('record', new Error('An event could not be recorded.', { cause: error }));
      return undefined;
    }
  }
}

/** Returns the place of a call as the other side of a connection announced it. */
function placeOfAnnounced({ subagent, parentAgentIds = [] }: AnnouncedCall) {
  return { agentName: undefined, subagent, parentAgentIds };
}

/** `false` for an id that may stand for several calls, each recorded as a separate event. */
function isOwnAction({ actionId = '', callId }: ToolCall): boolean {
  return actionId === '' || (actionId === callId && isEventId(actionId));
}

function timestampOf(given: Date | string | undefined, nowMs: number): string {
  const ms = new Date(given ?? nowMs).getTime();
  return isoTimestamp(Number.isNaN(ms) ? nowMs : ms);
}
