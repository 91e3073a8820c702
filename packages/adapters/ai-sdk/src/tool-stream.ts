import type { ToolOutcome } from '@actlog/recorder';
import { type AdapterCalls, abandonedCall, type HookedCall } from '@actlog/recorder/adapter';
import { throwForModel } from './throw-for-model.ts';

/**
 * Returns `true` if a tool is an async generator function, without running it. Checks the tag, because bundlers for
 * ES2017 compile generator functions to plain functions, so that there is no class to compare with.
 */
export function isGeneratorFunction(execute: unknown): boolean {
  return Object.prototype.toString.call(execute) === '[object AsyncGeneratorFunction]';
}

/** Returns `true` if a result is a stream of results. */
export function isAsyncIterable(result: unknown): result is AsyncIterable<unknown> {
  return (
    typeof (result as Partial<AsyncIterable<unknown>> | undefined)?.[Symbol.asyncIterator] === 'function'
  );
}

/** Returns the last result of a stream, which is the one that the AI SDK passes to the model. */
export async function lastOf(results: AsyncIterable<unknown>): Promise<unknown> {
  let last: unknown;
  for await (const result of results) last = result;
  return last;
}

/**
 * Records a tool that yields several results. Each is passed on immediately; the call ends with the last one, which is
 * recorded.
 *
 * @throws ActionDeniedError when the guard denies the call
 */
export async function* recordStream(
  calls: AdapterCalls,
  call: HookedCall,
  start: () => AsyncIterable<unknown>,
): AsyncGenerator<unknown, void> {
  const begun = await calls.begin(call).catch(throwForModel);
  let outcome: ToolOutcome = {
    ok: false,
    error: abandonedCall('The consumer stopped reading.'),
  };
  let results: AsyncIterator<unknown> | undefined;
  try {
    results = begun.step(() => start()[Symbol.asyncIterator]());
    let last: unknown;
    while (true) {
      // As a step, because a generator runs in the context of its consumer.
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
      await begun.end(outcome); // also if the tool throws when it is closed early
    }
  }
}
