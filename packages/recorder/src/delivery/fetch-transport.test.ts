import { expect, test } from 'vitest';
import { judge, type SendResult } from './send-result.ts';
import { FetchTransport } from './service-connection.ts';

/** A service that never responds. */
function hangingFetch(_url: string, { signal }: RequestInit): Promise<Response> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });
}

test.each([
  ['ran out of time', 1, 'TimeoutError'],
  ['was given up', 3_600_000, 'AbortError'],
])('reports a request that %s', async (_what, timeoutMs, reason) => {
  const url = new URL('http://127.0.0.1/v1/events');
  const transport = new FetchTransport({ fetch: hangingFetch, url, timeoutMs });
  const result = new Promise<SendResult>((done) => transport.send('{}', {}, done));
  if (reason === 'AbortError') transport.abort();
  expect(judge(await result)).toEqual({ kind: 'outage', reason });
});
