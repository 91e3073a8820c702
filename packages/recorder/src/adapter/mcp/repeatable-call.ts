import { isUrlRequired, throwAsGivenUp } from './tool-outcome.ts';
import { repeatCall, untilRepeated } from './unrepeated-calls.ts';

/** A call that its caller may have to repeat after the user has opened a URL. */
export interface RepeatableCall<Result> {
  /** Client or server of the call. */
  readonly owner: object;
  run(): Promise<Result>;
  /** Returns the key by which a repetition is recognized; called while the call runs. */
  readonly key: () => string | undefined;
  /** Runs a function through the recorders. */
  readonly record: (run: () => Promise<Result>) => Promise<Result>;
}

/**
 * Runs and records a call. If the user must open a URL first, the caller gets that error at once, and the call is
 * recorded when it is certain that it is not repeated: a call and its repetition are one event.
 *
 * @throws the error of the call
 */
export function runRepeatable<Result>({ owner, run, key, record }: RepeatableCall<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    const recorded = async () => {
      const ownKey = key();
      if (ownKey !== undefined) repeatCall(ownKey);
      try {
        return await run();
      } catch (error) {
        if (ownKey === undefined || !isUrlRequired(error)) throw error;
        reject(error);
        if ((await untilRepeated(ownKey, owner)) === 'given-up') throwAsGivenUp(error);
        throw error;
      }
    };
    record(recorded).then(resolve, reject);
  });
}
