import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Actlog } from '@actlog/client';
import { ParsedHead, type Transport, type WireRequest } from '@actlog/client/transport';
import { expect, onTestFinished, test } from 'vitest';

const apiKey = 'al_test_transport';

/** Starts a server that responds to so many requests, and to no other. */
async function startServer(responses = Infinity) {
  const sockets: Socket[] = [];
  let requests = 0;
  const server = createServer({ keepAliveTimeout: 600_000 }, (_request, response) => {
    requests += 1;
    if (requests <= responses) response.end('{"id":"billing"}');
  });
  server.on('connection', (socket) => sockets.push(socket));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  return { baseURL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sockets };
}

test('sends requests over the transport of the caller', async () => {
  const requests: WireRequest[] = [];
  const transport: Transport = {
    send: async (request, exchange) => {
      requests.push(request);
      exchange.receive(new ParsedHead(200, {})).write(Buffer.from('{"id":"billing"}'));
    },
  };
  const client = new Actlog({ apiKey, baseURL: 'https://actlog.example.com/eu', transport });
  expect([client.usesDefaultPool, client.fetch, await client.dispatcher()]).toEqual([
    false,
    undefined,
    undefined,
  ]);
  expect(await client.agents.get('billing')).toEqual({ id: 'billing' });
  expect(requests).toHaveLength(1);
  expect(requests[0]).toMatchObject({
    method: 'GET',
    origin: 'https://actlog.example.com',
    target: '/eu/v1/agents/billing',
    headers: { authorization: `Bearer ${apiKey}` },
  });
  expect(await client.openTransport(1)).toBe(transport);
});

test('opens connections that no other client uses, and closes them', async () => {
  const { baseURL, sockets } = await startServer();
  const client = new Actlog({ apiKey, baseURL });
  await client.agents.get('billing');
  const transport = await client.openTransport(1);
  const queue = client.withOptions({ transport });
  for (const _ of [1, 2]) await queue.agents.get('billing');
  expect(sockets).toHaveLength(2);
  const closed = once(sockets[1] as Socket, 'close');
  await transport.close?.();
  await closed;
  await client.agents.get('billing');
  expect(sockets).toHaveLength(2);
});

test('uses the transport that the options name, which only its owner closes', async () => {
  const baseURL = 'https://actlog.example.com';
  const closable = { send: () => Promise.reject(new Error('sent')), close: async () => {} };
  for (const given of [{ fetch }, { transport: closable }]) {
    const client = new Actlog({ apiKey, baseURL, ...given });
    const transport = await client.openTransport(1);
    expect(transport.close).toBeUndefined();
    expect(client.withOptions({ transport }).usesDefaultPool).toBe(false);
  }
});

test.each([0, 2])('lets the process end during a request, after %i others', async (others) => {
  const { baseURL } = await startServer(others);
  const program = `
    import { Actlog } from '@actlog/client';
    const client = new Actlog({ apiKey: '${apiKey}', baseURL: '${baseURL}' });
    const queue = client.withOptions({
      transport: await client.openTransport(1),
      clock: { now: () => 0, wallClock: () => 0, setTimeout: () => {}, clearTimeout: () => {}, random: () => 0 },
    });
    const awake = setInterval(() => {}, 1_000);
    for (let number = 0; number < ${others}; number += 1) await queue.agents.get('billing');
    clearInterval(awake);
    void queue.agents.get('billing');
    console.log('asked');
  `;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--conditions=@actlog/source', '--input-type=module', '--eval', program],
    { cwd: join(import.meta.dirname, '..') },
  );
  expect(stdout.trim()).toBe('asked');
});
