import { Actlog } from '@actlog/client';
import { expect, test } from 'vitest';
import { judge, type SendResult } from './send-result.ts';
import { TransportSender } from './service-connection.ts';

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
  const client = new Actlog({ apiKey: 'al_test_key', baseURL: url.origin, fetch: hangingFetch });
  const sender = new TransportSender(await client.openTransport(1), url, timeoutMs);
  const result = new Promise<SendResult>((done) => sender.send('{}', {}, done));
  if (reason === 'AbortError') sender.abort();
  expect(judge(await result)).toEqual({ kind: 'outage', reason });
});
