import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { RecorderOptions } from '../src/index.ts';
import { createRecorder, recordMany } from './test-recorder.ts';

/** Delivers some events and returns the maximum number in flight on one connection. */
async function mostOnOneConnection(options: RecorderOptions): Promise<number> {
  const underWay = new Map<Socket, number>();
  let most = 0;
  const server = createServer((request, response) => {
    const count = (underWay.get(request.socket) ?? 0) + 1;
    underWay.set(request.socket, count);
    most = Math.max(most, count);
    request.resume().on('end', () =>
      setImmediate(() => {
        underWay.set(request.socket, (underWay.get(request.socket) ?? 0) - 1);
        response.writeHead(202).end('{}');
      }),
    );
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close().closeAllConnections());
  await once(server, 'listening');
  const recorder = createRecorder(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options);
  recordMany(recorder, 1_000, 50);
  expect(await recorder.flush()).toMatchObject({ delivered: 1_000, pending: 0 });
  return most;
}

test('sends one event at a time per connection with pipelining 1', async () => {
  expect(await mostOnOneConnection({ pipelining: 1 })).toBe(1);
});

test('sends at most the configured number of events per connection', async () => {
  expect(await mostOnOneConnection({ pipelining: 8 })).toBe(8);
});
