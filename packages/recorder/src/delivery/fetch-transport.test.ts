import { expect, test } from 'vitest';
import type { Answer } from './answer.ts';
import { FetchTransport } from './fetch-transport.ts';
import { judge } from './verdict.ts';

/** A service that never answers. */
function hangingFetch(_url: string, { signal }: RequestInit): Promise<Response> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

test.each([
  ['ran out of time', 1, 'TimeoutError'],
  ['was given up', 3_600_000, 'AbortError'],
])('a request that %s is told of as that', async (_what, timeoutMs, reason) => {
  const url = new URL('http://127.0.0.1/v1/events');
  const transport = new FetchTransport({ fetch: hangingFetch, url, timeoutMs });
  const answer = new Promise<Answer>((done) => transport.send('{}', {}, done));
  if (reason === 'AbortError') transport.abort();
  expect(judge(await answer)).toEqual({ kind: 'outage', reason });
});
