import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createRecorder, recordMany } from './test-recorder.ts';

test('a recorder that is closed leaves no connection open', async () => {
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    request.resume().on('end', () => response.writeHead(202).end());
  });
  const closed: Promise<unknown>[] = [];
  server.on('connection', (socket: Socket) => closed.push(once(socket, 'close')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const recorder = createRecorder(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  recordMany(recorder, 200, 50);
  expect(await recorder.close()).toMatchObject({ delivered: 200 });
  expect(closed).not.toEqual([]);
  await Promise.all(closed);
});
