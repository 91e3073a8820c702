import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Wait } from './http-server-connection.ts';
import { HttpServerConnection } from './http-server-connection.ts';
import { Upstream } from './upstream.ts';

const stream = { 'content-type': 'text/event-stream' };

/** Starts a server as a test scripts it, with a connection to it. */
async function connect(
  respond: (request: IncomingMessage, response: ServerResponse) => void,
  receive: (line: string) => void,
  wait: Wait,
): Promise<HttpServerConnection> {
  const server = createServer((request, response) => {
    request.resume();
    respond(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const upstream = new Upstream(new URL(`http://127.0.0.1:${port}/mcp`), {});
  const connection = new HttpServerConnection(upstream, (line) => receive(line.toString()), wait);
  onTestFinished(async () => {
    await connection.close();
    await upstream.close();
    server.close();
  });
  return connection;
}

/** Sends a request whose stream breaks off twice, and returns the delays and the ids from which it is resumed. */
async function resume(first: string, second: string) {
  const last = 'id: 3\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n';
  const bodies = [first, second, last];
  const ids: unknown[] = [];
  const delays: number[] = [];
  const received = Promise.withResolvers<string>();
  const connection = await connect(
    ({ headers }, response) => {
      ids.push(headers['last-event-id']);
      response.writeHead(200, stream).write(bodies.shift());
      // The last stream stays open.
      if (bodies.length > 0) response.end();
    },
    received.resolve,
    async (ms) => void delays.push(ms),
  );
  connection.send(Buffer.from('{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}\n'));
  const message = JSON.parse(await received.promise);
  await connection.settled();
  return { message, delays, ids };
}

test('resumes a stream after the delay that the server asks for, until the response', async () => {
  const { message, delays, ids } = await resume('id: 1\nretry: 500\ndata:\n\n', 'id: 2\ndata:\n\n');
  expect(message).toMatchObject({ id: 1, result: {} });
  expect(delays).toEqual([500, 500]);
  expect(ids).toEqual([undefined, '1', '2']);
});

test.each([
  ['a second if the server names no delay', '', 1000],
  ['a tenth of a second if the server asks for less', 'retry: 0\n', 100],
  ['as long as a timer can if the server asks for more', 'retry: 9999999999\n', 2 ** 31 - 1],
])('waits %s', async (_title, retry, ms) => {
  const { delays } = await resume(`id: 1\n${retry}data:\n\n`, 'id: 2\ndata:\n\n');
  expect(delays).toEqual([ms, ms]);
});

test.each([
  ['is open', ['POST', 'GET', 'open', 'POST'], () => new Promise(() => {})],
  ['takes too long to open', ['GET', 'POST', 'POST'], async () => {}],
])('sends messages when the stream for those of the server %s', async (_title, expected, wait) => {
  const seen: string[] = [];
  const opens = expected.includes('open');
  const connection = await connect(
    ({ method = '' }, response) => {
      seen.push(method);
      if (method === 'POST') response.writeHead(202).end();
      else if (opens)
        setImmediate(() => {
          seen.push('open');
          response.writeHead(200, stream).flushHeaders();
        });
    },
    () => {},
    wait,
  );
  connection.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/initialized"}\n'));
  connection.send(Buffer.from('{"jsonrpc":"2.0","method":"notifications/x"}\n'));
  await expect.poll(() => (opens ? seen : [...seen].sort())).toEqual(expected);
});
