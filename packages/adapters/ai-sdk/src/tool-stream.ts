import type { ToolOutcome } from '@actlog/recorder';
import type { AdapterCalls, HookedCall } from '@actlog/recorder/adapter';
import { throwForModel } from './denial.ts';

/**
 * Whether a tool gives its results one after the other, told before it runs. By its tag, because a bundler for
 * ES2017 leaves no such class to compare with: it makes plain functions of all of them.
 */
export function isGeneratorFunction(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

/** Whether a result is a stream of results. */
export function isAsyncIterable(result: unknown): result is AsyncIterable<unknown> {
  return (
    typeof (result as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator] === 'function'
  );
}

/** The last result of a stream, which is the one that the AI SDK tells the model. */
export async function lastOf(results: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const result of results) last = result;
  return last;
}

/**
 * Records a tool that gives its results one after the other. Each is passed on as soon as it is there; the call ends
 * with the last, and that is the result that is recorded.
 *
 * @throws ActionDeniedError when the guard does not let it run
 */
export async function* recordStream(
  calls: AdapterCalls,
  call: HookedCall,
  start: () => AsyncIterable<unknown>,
): AsyncGenerator<unknown, void> {
  const begun = await calls.begin(call).catch(throwForModel);
  let outcome: ToolOutcome = { ok: false, error: new DOMException('Nobody reads on.', 'AbortError') };
  let results: AsyncIterator<unknown> | undefined;
  try {
    results = begun.step(() => start()[Symbol.asyncIterator]());
    let last: unknown;
    while (true) {
      // A step, because a generator runs in the context of who asks it for more.
      const next: IteratorResult<unknown> = await begun.step(() =>
        (results as AsyncIterator<unknown>).next(),
      );
      if (next.done) break;
      last = next.value;
      yield last;
    }
    outcome = { ok: true, result: last };
    results = undefined;
  } catch (error) {
    outcome = { ok: false, error };
    results = undefined;
    throw error;
  } finally {
    try {
      await results?.return?.();
    } finally {
      await begun.end(outcome); // whatever the tool throws when it is left
    }
  }
}
