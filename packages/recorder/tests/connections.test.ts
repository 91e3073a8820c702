import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { createRecorder, recordMany } from './test-recorder.ts';

test.each(['off', 'observe'] as const)('closes all connections with the recorder: guard %s', async (mode) => {
  const server = createServer({ keepAliveTimeout: 600_000 }, (request, response) => {
    request.resume().on('end', () => response.writeHead(202).end('{"decision":"allow"}'));
  });
  const closed: Promise<unknown>[] = [];
  server.on('connection', (socket: Socket) => closed.push(once(socket, 'close')));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const failures: Error[] = [];
  const recorder = createRecorder(url, { guard: { mode }, onError: (error) => failures.push(error) });
  recordMany(recorder, 200, 50);
  await recorder.toolCall({ toolName: 'search', arguments: {} }, () => 'found');
  expect(await recorder.close()).toMatchObject({ delivered: 201 });
  expect(closed).not.toEqual([]);
  await Promise.all(closed);
  expect(failures).toEqual([]);
});
