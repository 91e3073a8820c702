import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { ToolOutcome } from '@actlog/tool-call';
import type { AnnouncedCall, RecordedOutcome } from '../events/tool-call.ts';
import { processWide } from '../lib/process-wide.ts';
import { currentCall, enterCall, enterPlace, type RunningCall } from '../recording/active-call.ts';
import { currentSessionId, enterSession } from '../recording/recorder-session.ts';

/**
 * A running call that its guard has allowed. For hooks that cannot put the whole call in one function, for example
 * around a generator, or with separate hooks before and after.
 */
export class BegunCall {
  /**
   * Async context of the call. `AsyncLocalStorage.snapshot` does the same, but takes microseconds instead of a tenth of
   * one.
   */
  readonly #place = new AsyncResource('actlog:call');
  readonly #end: (outcome: ToolOutcome) => Promise<void>;

  private constructor(end: (outcome: ToolOutcome) => Promise<void>) {
    this.#end = end;
  }

  /**
   * Begins a call.
   *
   * @param run - runs a function as the call, such as `AdapterCalls.run`
   * @throws the error that `run` throws instead of running the function
   */
  static begin(run: (body: () => Promise<unknown>) => Promise<unknown>): Promise<BegunCall> {
    return new Promise((resolve, reject) => {
      const body = () =>
        new Promise((succeed, fail) => {
          const end = (outcome: ToolOutcome) => {
            if (outcome.ok) succeed(outcome.result);
            else fail(outcome.error);
            return recorded;
          };
          resolve(new BegunCall(end));
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
   * For hooks that are awaited before the tool runs but cannot wrap it: the rest of the async function that awaits the
   * hook becomes part of the call passed later. Must be called before the hook's first `await`.
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
  /** The framework's thread, session or run. Default: that of the surrounding `session.run`. */
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
   * `true` if the outcome may be that of the framework, which has found invalid arguments or no such tool. Default: the
   * tool ran, so that such an error is its own, unless `statusOf` knows better.
   */
  readonly mayBeRefused?: boolean | undefined;
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
