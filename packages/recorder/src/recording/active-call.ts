import { AsyncLocalStorage } from 'node:async_hooks';
import { type ToolOutcome, toIdentifier } from '@actlog/tool-call';
import type { ToolCall } from '../events/tool-call.ts';
import { processWide } from '../lib/process-wide.ts';
import type { Trace } from '../origins/origin-tracker.ts';
import { hasOrigins, type SessionOrigins } from '../origins/session-origins.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import type { EventRecorder, EventSource } from './event-recorder.ts';

/** The recorded call that an `argument_origins` event is about. */
interface RecordedCall {
  readonly callEventId: string;
  readonly sessionId: string;
  readonly sourceTimestamp: string;
}

/** Records where the arguments of calls came from. */
export class CallOrigins {
  readonly #events: EventRecorder;
  readonly #refusals: FactRefusals;

  constructor(events: EventRecorder, refusals: FactRefusals) {
    this.#events = events;
    this.#refusals = refusals;
  }

  /** Records the origins of a call, if there is anything to report and the service takes such events. */
  report(nowMs: number, source: EventSource, call: RecordedCall, trace: Trace | undefined): void {
    if (trace === undefined || this.#refusals.ofEvents('origins') || !hasOrigins(trace.origins)) return;
    this.#events.addOrigins(nowMs, source, { ...call, origins: trace.origins, userText: trace.userText });
  }
}

/**
 * Remembers the result of a call, in which arguments of later calls may stand.
 *
 * @param eventId - id of the call's event; undefined if it was not recorded
 */
export function rememberResult(
  call: ToolCall,
  active: ActiveCall,
  eventId: string | undefined,
  outcome: ToolOutcome,
): void {
  const { origins, refusedWith, sessionId, toolName, trace } = active;
  if (origins === undefined || refusedWith !== undefined) return;
  const traced = { toolName: toIdentifier(toolName, 'unknown'), eventId };
  origins.rememberResult(sessionId, traced, () => shownResult(outcome, call.resultOf), trace);
}

/** Returns what the model sees of an outcome: the result, or the message of the error. */
export function shownResult(outcome: ToolOutcome, resultOf: ToolCall['resultOf']): unknown {
  if (outcome.ok) return resultOf ? resultOf(outcome.result) : outcome.result;
  return outcome.error instanceof Error ? outcome.error.message : outcome.error;
}

/** A running call, as seen by other hooks. */
export interface RunningCall {
  /** Recorded name of the tool. */
  readonly toolName: string;
  /** Recorded agent and session. */
  readonly agentId: string;
  readonly sessionId: string;
}

/** Event of a call that two sides of a connection record. */
export interface CallEvent {
  readonly eventId: string;
  /** View of the call in this process that announced it; undefined if the other side did. */
  readonly announcedBy?: ActiveCall;
  /** Time with which the other side has recorded it, in Unix milliseconds. */
  recordedAtMs?: number;
}

/** A running call, as seen by inner hooks that may observe the same call. */
export interface ActiveCall extends RunningCall {
  /** Recorder of the call. A hook with another recorder records for another service. */
  readonly recordedBy: object;
  /** The framework's name of the agent, where `agentId` is the user's; undefined if it is not known. */
  readonly agentName: string | undefined;
  /** Name of the agent's subagent; undefined for none. */
  readonly subagent: string | undefined;
  /** Agents that the agent runs inside, nearest first. */
  readonly parentAgentIds: readonly string[];
  /** Hash of the arguments that the call runs with. */
  argumentsHash: string;
  /** Hash of the requested arguments, if an approver changed them; undefined for none. */
  changedFrom?: string | undefined;
  /** W3C `traceparent` of the call; undefined for none. */
  readonly traceparent: string | undefined;
  readonly callId: string | undefined;
  readonly framework: string | undefined;
  /** Guard that allowed the call, and the action that was checked; undefined if nothing was checked. */
  readonly guard: object;
  actionId: string | undefined;
  /**
   * The `actionId`, if a guard created it for this call alone and allowed the call. The call's event then has the same
   * id, so that policies can tell how the call ended.
   */
  checkedAs?: string | undefined;
  /** Call within which this one runs. */
  readonly outer: ActiveCall | undefined;
  /** The same call as seen by an inner hook. Ends together with this one. */
  inner: ActiveCall | undefined;
  /** `true` while an inner hook may claim this as the same call: it has not ended, and no other hook has claimed it. */
  isOpen: boolean;
  /**
   * Status with which an inner hook denied the call. The framework may have turned the denial into something that looks
   * like a result.
   */
  refusedWith: number | undefined;
  /** Memory of the session to trace argument origins; undefined if they are off. */
  readonly origins: SessionOrigins | undefined;
  /** Origins of the arguments; undefined if they were not traced. */
  trace: Trace | undefined;
  /** The call's event, once the call is announced. */
  event?: CallEvent | undefined;
}

/** A scope in which code runs before it is known which call it belongs to. */
interface Place {
  /** Call that was started in this scope later. */
  begun: ActiveCall | undefined;
  readonly outer: ActiveCall | undefined;
}

const storage = processWide(
  '@actlog/recorder/active-call',
  () => new AsyncLocalStorage<ActiveCall | Place>(),
);

/**
 * Uses the storage once before any call runs. Node.js 22 tracks a storage from its first use: functions that are
 * already awaiting then join any context entered later by what they await.
 */
export function prepareCalls(): void {
  storage().run({ begun: undefined, outer: undefined }, () => {});
}

/** Returns the innermost running call. */
export function currentCall(): ActiveCall | undefined {
  const store = storage().getStore();
  let call = store && 'begun' in store ? (store.begun ?? store.outer) : store;
  // In a scope, skip calls that have ended, so that a long run does not keep them all in memory.
  while (call && !call.isOpen) call = call.outer;
  return call;
}

/** Runs a tool as the given call. */
export function runAsCall<Args extends unknown[], Result>(
  call: ActiveCall,
  run: (...args: Args) => Result,
  ...args: Args
): Result {
  return storage().run(call, run, ...args);
}

/** Ends a call and all its inner views. Code that is still running afterwards is not part of it. */
export function endCall(call: ActiveCall): void {
  for (let ended: ActiveCall | undefined = call; ended; ended = ended.inner) ended.isOpen = false;
}

/** Passes the arguments of the run, or the denial, to the outer hook, which records the call. */
export function tellOuter(
  outer: ActiveCall,
  { argumentsHash, changedFrom, refusedWith, trace, checkedAs }: ActiveCall,
): void {
  outer.argumentsHash = argumentsHash;
  outer.changedFrom = changedFrom;
  outer.refusedWith = refusedWith;
  outer.trace = trace;
  outer.checkedAs ??= checkedAs;
}

/** Returns the view of a call that records it, which belongs to the outermost hook that sees the same call. */
export function recordingView(call: ActiveCall): ActiveCall {
  let recording = call;
  for (let outer = call.outer; outer; outer = outer.outer) if (outer.inner === recording) recording = outer;
  return recording;
}

/** Makes the rest of the current async context part of the call, where the tool cannot be wrapped. */
export function enterCall(call: ActiveCall): void {
  storage().enterWith(call);
}

/** Enters a call that is not known yet, like {@link enterCall}: the returned function sets it later. */
export function enterPlace(): (call: ActiveCall) => void {
  const place: Place = { begun: undefined, outer: currentCall() };
  storage().enterWith(place);
  return (call) => {
    place.begun = call;
  };
}

/**
 * Finds a running call that is the same as the one about to start, seen by two hooks: for example by an MCP client's
 * hook inside a LangChain tool. Calls are the same if tool and arguments hash are equal, and either the frameworks
 * differ or framework and id are equal. A tool that calls itself makes two calls, and an inner call with other
 * arguments, which nobody has checked, is a separate call. An outer call matches at most one inner call while it runs:
 * a second one is a repetition that really happens.
 *
 * @param innermost - call within which the new one starts, from {@link currentCall}
 */
export function claimSameCall(
  innermost: ActiveCall | undefined,
  recordedBy: object,
  toolName: string,
  argumentsHash: string,
  callId: string | undefined,
  framework: string | undefined,
): ActiveCall | undefined {
  for (let outer = innermost; outer; outer = outer.outer) {
    if (!outer.isOpen || outer.recordedBy !== recordedBy) continue;
    if (outer.toolName !== toolName || outer.argumentsHash !== argumentsHash) continue;
    const isOtherHook = outer.framework !== framework || (callId !== undefined && outer.callId === callId);
    if (!isOtherHook) continue;
    outer.isOpen = false;
    return outer;
  }
  return undefined;
}
