import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { ToolOutcome } from '@actlog/tool-call';
import type { AnnouncedCall, ApprovedChange, RecordedOutcome } from '../events/tool-call.ts';
import { dropOldest } from '../lib/linked-list.ts';
import { processWide, processWidePerOwner } from '../lib/process-wide.ts';
import { currentCall, enterCall, enterPlace, type RunningCall } from '../recording/active-call.ts';
import { currentSessionId, enterSession } from '../recording/recorder-session.ts';

/** Minimum number of calls remembered per recorder; the maximum is twice as many. */
const maxCalls = 1000;

/** Key of a call. */
interface IdentifiedCall {
  readonly toolName: string;
  /** The framework's id of the call. A call without one is not remembered. */
  readonly callId?: string | undefined;
}

/** Number of calls per key, because some models restart the numbering of calls in each conversation. */
type CallCounts = Map<string, number>;

/** Calls handled by a framework's adapter, per recorder. */
const hookedCalls = processWidePerOwner('@actlog/recorder/hooked-calls', (): CallCounts => new Map());

/** Calls recorded by a generic hook, because no adapter had announced them, per recorder. */
const unhookedCalls = processWidePerOwner('@actlog/recorder/unhooked-calls', (): CallCounts => new Map());

/** Time of a call that a framework's adapter handles. */
interface HookedTime {
  readonly toolName: string;
  readonly beganMs: number;
  endedMs: number;
}

/** Times of calls, to recognize one that a generic hook sees without its id, per recorder. */
const hookedTimes = processWidePerOwner(
  '@actlog/recorder/hooked-times',
  (): { times?: HookedTime[] } => ({}),
);

/** Remembers the times of calls from now on, for a generic hook of this recorder. */
export function watchHookedTimes(recorder: object): void {
  hookedTimes(recorder).times ??= [];
}

/** Remembers that a framework's adapter handles a call of this tool now, until the returned function is called. */
export function trackHookedTime(recorder: object, toolName: string): (() => void) | undefined {
  const { times } = hookedTimes(recorder);
  if (!times) return undefined;
  const time: HookedTime = { toolName, beganMs: Date.now(), endedMs: Number.POSITIVE_INFINITY };
  if (times.push(time) > 2 * maxCalls) times.splice(0, maxCalls);
  return () => {
    time.endedMs = Date.now();
  };
}

/**
 * Returns `true` if a framework's adapter handles or handled a call of this tool at this time, once for each call.
 * Both ends count, because times in a span may be whole milliseconds.
 */
export function takeHookedTime(recorder: object, toolName: string, fromMs: number, toMs: number): boolean {
  const times = hookedTimes(recorder).times ?? [];
  const place = times.findIndex(
    (time) => time.toolName === toolName && time.beganMs <= toMs + 1 && time.endedMs >= fromMs - 1,
  );
  if (place === -1) return false;
  times.splice(place, 1);
  return true;
}

function nameOf({ toolName, callId }: IdentifiedCall): string {
  return `${callId}\n${toolName}`;
}

/** Remembers that a framework's adapter handles this call. */
export function trackHookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId === undefined) return;
  const calls = hookedCalls(recorder);
  if (!calls.has(nameOf(call)) || !runsWithin(call)) add(calls, nameOf(call));
}

/** Returns `true` if a framework's adapter handles this call, once for each call with that id. */
export function takeHookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && take(hookedCalls(recorder), nameOf(call));
}

/** Remembers that a generic hook recorded this call. */
export function trackUnhookedCall(recorder: object, call: IdentifiedCall): void {
  if (call.callId !== undefined) add(unhookedCalls(recorder), nameOf(call));
}

/** Returns `true` if a generic hook recorded this call. */
export function isUnhookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && unhookedCalls(recorder).has(nameOf(call));
}

/** Does the same, once for each call with that id. */
export function takeUnhookedCall(recorder: object, call: IdentifiedCall): boolean {
  return call.callId !== undefined && take(unhookedCalls(recorder), nameOf(call));
}

function add(calls: CallCounts, name: string): void {
  const count = calls.get(name) ?? 0;
  if (count > 0) calls.delete(name); // re-added as the newest entry
  calls.set(name, count + 1);
  if (calls.size > 2 * maxCalls) dropOldest(calls, maxCalls);
}

function take(calls: CallCounts, name: string): boolean {
  const count = calls.get(name) ?? 0;
  if (count > 1) calls.set(name, count - 1);
  else calls.delete(name);
  return count > 0;
}

/** Returns `true` if an outer hook has reported this call, because the adapter is installed twice. */
function runsWithin({ toolName, callId }: IdentifiedCall): boolean {
  for (let outer = currentCall(); outer; outer = outer.outer) {
    if (outer.callId === callId && outer.toolName === toolName) return true;
  }
  return false;
}

/**
 * A running call that its guard has allowed. For hooks that cannot put the whole call in one function, for example
 * around a generator, or with separate hooks before and after.
 */
export class BegunCall {
  /** Async context of the call, ten times faster than `AsyncLocalStorage.snapshot`, which takes microseconds. */
  readonly #place = new AsyncResource('actlog:call');
  readonly #end: (outcome: ToolOutcome) => Promise<void>;
  /** The approver's change of the arguments, with which the tool must then run; undefined for none. */
  readonly change: ApprovedChange | undefined;

  private constructor(end: (outcome: ToolOutcome) => Promise<void>, change: ApprovedChange | undefined) {
    this.#end = end;
    this.change = change;
  }

  /**
   * Begins a call.
   *
   * @param run - runs a function as the call, such as `AdapterCalls.run`
   * @throws the error that `run` throws instead of running the function
   */
  static begin(
    run: (body: (args?: unknown, change?: ApprovedChange) => Promise<unknown>) => Promise<unknown>,
  ): Promise<BegunCall> {
    return new Promise((resolve, reject) => {
      const body = (_args?: unknown, change?: ApprovedChange) =>
        new Promise((succeed, fail) => {
          const end = (outcome: ToolOutcome) => {
            if (outcome.ok) succeed(outcome.result);
            else fail(outcome.error);
            return recorded;
          };
          resolve(new BegunCall(end, change));
        });
      const recorded: Promise<void> = run(body).then(() => {}, reject);
    });
  }

  /** Runs a step of the call, so that inner hooks treat it as part of the call. */
  step<Result>(run: () => Result): Result {
    return this.#place.runInAsyncScope(run);
  }

  /**
   * Does the same for the rest of the calling async function: for hooks that are notified synchronously that the tool
   * starts.
   */
  enter(): void {
    const call = this.step(currentCall);
    if (call) enterCall(call);
    const sessionId = this.step(currentSessionId);
    if (sessionId !== undefined && sessionId !== currentSessionId()) enterSession(sessionId);
  }

  /**
   * Makes the rest of the async function that awaits a hook part of the call passed later, for hooks that are awaited
   * before the tool runs but cannot wrap it. Must be called before the hook's first `await`.
   *
   * @param sessionId - session of inner calls that have none
   */
  static place(sessionId: string | undefined): (call: BegunCall) => void {
    const enter = enterPlace();
    if (sessionId !== undefined) enterSession(sessionId);
    return (begun) => {
      const call = begun.step(currentCall);
      if (call) enter(call);
    };
  }

  /** Ends the call and resolves when it is recorded. Only the first end counts. Never rejects. */
  end(outcome: ToolOutcome): Promise<void> {
    return this.#end(outcome);
  }
}

/** A tool call as seen by a framework's hook. */
export interface HookedCall {
  /** Name of the tool, as the model sees it. */
  readonly toolName: string;
  /** Arguments from the model, before the framework adds defaults. */
  readonly arguments: unknown;
  /** The framework's id of the call. Default: none. */
  readonly callId?: string | undefined;
  /** Wrapper that reports the call, for tools that may be wrapped twice and called manually without an id. */
  readonly wrapping?: Wrapping | undefined;
  /** The framework's thread, session or run. Default: the surrounding `session.run`. */
  readonly sessionId?: string | undefined;
  /** The framework's name of the agent. Default: the recorder's. */
  readonly agentId?: string | undefined;
  /** The framework's name of the subagent that makes the call, if the framework does not treat it as an agent. */
  readonly subagent?: string | undefined;
  /**
   * Agents that the agent runs inside by the framework's names, nearest first, as far as the call does not run inside a
   * call of theirs. Default: none.
   */
  readonly parentAgentIds?: readonly string[] | undefined;
  /** W3C `traceparent` of the call; an invalid one is ignored. Default: from the active OpenTelemetry span. */
  readonly traceparent?: string | undefined;
  /** Returns what the model sees of the result, where the hook gets an object of the framework. Default: the result. */
  readonly resultOf?: ((result: unknown) => unknown) | undefined;
  /** Aborts the wait for a person's decision. A call aborted by then never runs. */
  readonly signal?: AbortSignal | undefined;
  /** Id of the action if the same call is repeated, for example when an interrupted run is resumed. */
  readonly actionId?: string | undefined;
  /** The same call as announced by the other side of a connection, from `sharedCalls.open`. */
  readonly announced?: AnnouncedCall | undefined;
  /** Called with what was recorded. */
  readonly onRecorded?: ((outcome: RecordedOutcome) => void) | undefined;
  /**
   * `true` if the outcome may come from the framework, which found invalid arguments or no such tool. Default: the tool
   * ran and such an error came from it, unless `statusOf` says otherwise.
   */
  readonly mayBeRefused?: boolean | undefined;
  /**
   * `true` if the hook runs the tool with the arguments that it gets from `run`, or from `change` of a begun call. Default:
   * `false`; an approval of changed arguments then denies the call.
   */
  readonly acceptsChanges?: boolean | undefined;
  /**
   * Schema of the arguments, if the framework has validated them before the hook: changed arguments are validated by it.
   * Default: the framework validates the arguments that the hook runs the tool with.
   */
  readonly schema?: unknown;
  /** Hash to record if the hook does not see the arguments. Only for calls that have ended. */
  readonly argumentsHash?: string | undefined;
  /** Start time of a call that has ended, to recognize it where neither its id nor `startedIn` is known. */
  readonly startedAt?: Date | undefined;
  /** End time of a call that has ended. Default: now. */
  readonly endedAt?: Date | undefined;
  /** Call that was running when this one started. Identifies the same call for hooks without call ids. */
  readonly startedIn?: RunningCall | undefined;
}

/** A wrapper that a call passes through. A tool that is wrapped twice has two, one inside the other. */
export interface Wrapping {
  /** Function or object that receives the call. */
  readonly wrapper: object;
  /** Function or object that the call is passed on to: the tool itself, or an inner wrapper. */
  readonly wrapped: object;
}

/** A call that a wrapper has passed on. */
interface PassedCall {
  readonly to: object;
  readonly callId: string;
}

const passed = processWide('@actlog/recorder/passed-call', () => new AsyncLocalStorage<PassedCall>());

/** Runs a call without an id under a new one, which inner wrappers share, so that all see one call. */
export function withCallId<Result>({ wrapper, wrapped }: Wrapping, run: (callId: string) => Result): Result {
  const outer = passed().getStore();
  const callId = outer?.to === wrapper ? outer.callId : randomUUID();
  return passed().run({ to: wrapped, callId }, () => run(callId));
}
