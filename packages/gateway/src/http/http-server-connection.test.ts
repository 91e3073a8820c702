import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { HttpServerConnection } from './http-server-connection.ts';
import { Upstream } from './upstream.ts';

const response = (id: number) => `data: {"jsonrpc":"2.0","id":${id},"result":{}}\n\n`;

/** Sends a request whose stream breaks off twice, and returns the delays and the ids from which it is resumed. */
async function resume(first: string, second: string) {
  const bodies = [first, second, `id: 3\n${response(1)}`];
  const ids: unknown[] = [];
  const server = createServer((request, reply) => {
    request.resume();
    ids.push(request.headers['last-event-id']);
    reply.writeHead(200, { 'content-type': 'text/event-stream' }).end(bodies.shift());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream = new Upstream(new URL(`http://127.0.0.1:${port}/mcp`), {});
  const delays: number[] = [];
  const received = Promise.withResolvers<string>();
  const connection = new HttpServerConnection(
    upstream,
    (line) => received.resolve(line.toString()),
    async (ms) => void delays.push(ms),
  );
  onTestFinished(async () => {
    await connection.close();
    await upstream.close();
    server.close();
  });
  connection.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}\n'));
  return { message: JSON.parse(await received.promise), delays, ids };
}

test('waits as long as the server asks for before it resumes a stream', async () => {
  const { message, delays, ids } = await resume('id: 1\nretry: 500\ndata:\n\n', 'id: 2\ndata:\n\n');
  expect(message).toMatchObject({ id: 1, result: {} });
  expect(delays).toEqual([500, 500]);
  expect(ids).toEqual([undefined, '1', '2']);
});

test.each([
  ['a second if the server names no delay', '', 1000],
  ['not at all if the server asks for zero milliseconds', 'retry: 0\n', 0],
  ['as long as a timer can if the server asks for more', 'retry: 9999999999\n', 2 ** 31 - 1],
])('waits %s', async (_title, retry, ms) => {
  const { delays } = await resume(`id: 1\n${retry}data:\n\n`, 'id: 2\ndata:\n\n');
  expect(delays).toEqual([ms, ms]);
});
