import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { inspect } from 'node:util';
import { Actlog, ActlogError } from '@actlog/client';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { testKey, transports } from './test-client.ts';

let payload: Uint8Array = new Uint8Array();
const sockets = new Set<Socket>();
const server = createServer((socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
  socket.on('error', () => {});
  socket.once('data', () => socket.end(payload));
});

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await once(server, 'close');
});

/** Bytes that resemble a response. */
const almostHttp = fc
  .tuple(
    fc.constantFrom(
      'HTTP/1.1 200 OK',
      'HTTP/1.1 429 Slow',
      'HTTP/1.1 503 No',
      'HTTP/1.0 204',
      'HTTP/1.1 99',
      'HTTP/9',
    ),
    fc.array(
      fc.constantFrom(
        'content-length: 5',
        'content-length: -1',
        'content-length: 5, 6',
        'transfer-encoding: chunked',
        'content-encoding: gzip',
        'content-encoding: none, such',
        'retry-after: 0',
        'location: //',
        'x-request-id: \u00e9',
        'connection: close',
      ),
      { maxLength: 4 },
    ),
    fc.constantFrom('\r\n\r\n', '\n\n', '\r\n', ''),
    fc.oneof(
      fc.string(),
      fc.json(),
      fc.constant('5\r\n{"a":\r\n2\r\n1}\r\n0\r\n\r\n'),
      fc.constant('{"items":[]}'),
    ),
  )
  .map(([status, headers, gap, body]) =>
    Buffer.from([status, ...headers].join('\r\n') + gap + body, 'latin1'),
  );

describe.each(transports)('arbitrary responses over %s', (_name, options) => {
  it('give a result or an error of this package, and never show the key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.oneof(almostHttp, fc.uint8Array({ maxLength: 300 })), async (bytes) => {
        payload = bytes;
        const client = new Actlog({
          ...options,
          apiKey: testKey,
          baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
          logLevel: 'off',
          maxRetries: 0,
          // Uses the real clock: in Node 22, fetch never settles for some of these, so the timeout must end it.
          timeoutMs: 1000,
        });
        const calls: (() => PromiseLike<unknown>)[] = [
          () => client.agents.get('a'),
          () => client.sessions.list(),
          () => client.request('POST', '/v1/x'),
        ];
        for (const call of calls) {
          try {
            await call();
          } catch (error) {
            expect(error).toBeInstanceOf(ActlogError);
            expect(inspect(error, { depth: 9 })).not.toContain(testKey.slice('al_test_'.length));
          }
        }
      }),
      { numRuns: 150 },
    );
  });
});
