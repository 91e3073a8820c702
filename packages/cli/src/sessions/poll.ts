import { setTimeout as delay } from 'node:timers/promises';
import { note } from '../output/print.ts';

/** Options of `poll`. */
export interface PollOptions {
  /** Delay between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** Ends the loop, without an error. */
  readonly signal: AbortSignal;
}

/** Fields of the client's errors, read by name. */
interface ServiceError {
  readonly code?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Longest delay after failures, in milliseconds. */
const maxDelayMs = 30_000;

/**
 * Gives what each call of `read` gives, again and again, until the signal is aborted. A broken connection, 429 or 5xx is
 * reported once on standard error, and polling continues more slowly.
 *
 * @throws what `read` throws otherwise
 */
export async function* poll<Item>(
  read: (signal: AbortSignal) => AsyncIterable<Item>,
  { intervalMs, signal }: PollOptions,
): AsyncGenerator<Item, void> {
  let failures = 0;
  while (!signal.aborted) {
    let delayMs = intervalMs;
    try {
      yield* read(signal);
      if (failures > 0) note('The service responds again.');
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      if (failures === 0) note(`${(error as Error).message} Trying again until it responds.`);
      failures += 1;
      const backoffMs = Math.min(intervalMs * 2 ** failures, maxDelayMs);
      delayMs = Math.max(backoffMs, (error as ServiceError).retryAfterMs ?? 0);
    }
    await delay(delayMs, undefined, { signal }).catch(() => {}); // aborted: the loop ends
  }
}

function isTransient(error: unknown): boolean {
  const { code, status = 0 } = (error ?? {}) as ServiceError;
  return code === 'CONNECTION_FAILED' || code === 'TIMEOUT' || status === 429 || status >= 500;
}
