import { AsyncResource } from 'node:async_hooks';
import type { ToolOutcome } from '@actlog/tool-call';
import { currentCall, enterCall, enterPlace } from '../recording/active-call.ts';
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
