import { AsyncResource } from 'node:async_hooks';
import { currentCall, enterCall, enterPlace } from '../active-call.ts';
import type { ToolOutcome } from '../response-status.ts';
import { currentSessionId, enterSession } from '../session.ts';

/**
 * A call that its guard let through and that is now running: for hooks that cannot put the whole call in one function,
 * as around a generator, or before and after.
 */
export class BegunCall {
  /** Where it began. `AsyncLocalStorage.snapshot` would do the same, for microseconds instead of a tenth of one. */
  readonly #place = new AsyncResource('actlog:call');
  readonly #end: (outcome: ToolOutcome) => Promise<void>;

  private constructor(end: (outcome: ToolOutcome) => Promise<void>) {
    this.#end = end;
  }

  /**
   * Begins a call.
   *
   * @param run - what runs a function as the call, such as `AdapterCalls.run`
   * @throws what `run` throws instead of running the function
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

  /** Runs a step of the call, so that hooks further in know it as a part of it. */
  step<Result>(run: () => Result): Result {
    return this.#place.runInAsyncScope(run);
  }

  /**
   * The same for all that follows in the asynchronous function that this is called from: for hooks that are only told,
   * synchronously, that the tool starts.
   */
  enter(): void {
    const call = this.step(currentCall);
    if (call) enterCall(call);
    const sessionId = this.step(currentSessionId);
    if (sessionId !== undefined && sessionId !== currentSessionId()) enterSession(sessionId);
  }

  /**
   * For hooks that are awaited before the tool runs and cannot wrap it: what follows in the asynchronous function that
   * awaits the hook runs as a part of the call that is given later. To be called before the hook's first `await`.
   *
   * @param sessionId - the session of calls in there that know of none
   */
  static place(sessionId: string | undefined): (call: BegunCall) => void {
    const enter = enterPlace();
    if (sessionId !== undefined) enterSession(sessionId);
    return (begun) => {
      const call = begun.step(currentCall);
      if (call) enter(call);
    };
  }

  /** Ends the call, and resolves when it is recorded. Only the first end counts. Never rejects. */
  end(outcome: ToolOutcome): Promise<void> {
    return this.#end(outcome);
  }
}
