import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { inspect } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDispatcher } from '../src/transport/undici-pools.ts';
import { rejection, testClient } from './test-client.ts';

afterEach(() => vi.unstubAllEnvs());

describe('a proxy that refuses every request', () => {
  let proxy: Server;
  let refusal: number | undefined;
  beforeAll(async () => {
    proxy = createServer((_request, response) => response.writeHead(refusal ?? 500).end('<html>'));
    proxy.on('connect', (_request, socket) => {
      socket.on('error', () => {});
      if (refusal) socket.end(`HTTP/1.1 ${refusal} No\r\n\r\n`);
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  afterAll(() => void proxy.close());
  const address = () => `http://user:secret@127.0.0.1:${(proxy.address() as AddressInfo).port}`;

  it.each([
    ['https://actlog.invalid', 407],
    ['https://actlog.invalid', 403],
    ['http://actlog.invalid', 407],
  ])('is reported with its status: %s, %i', async (baseURL, status) => {
    refusal = status;
    const { client } = testClient(baseURL, { allowInsecureHttp: true, maxRetries: 1, proxy: address() });
    const error = await rejection(client.agents.create({ name: 'n' }));
    expect(error).toMatchObject({ name: 'APIConnectionError', maybeSent: false, attempts: 2 });
    expect(error.message).toBe(
      `POST /v1/agents: no connection to ${baseURL}; the request was not sent (PROXY_RESPONSE_${status}).`,
    );
    expect(inspect(error, { depth: 9 })).not.toContain('secret');
  });

  it('times out when it does not respond to CONNECT', async () => {
    refusal = undefined;
    const dispatcher = await createDispatcher(address(), 1);
    const asked = dispatcher.request({ origin: 'https://actlog.invalid', path: '/', method: 'GET' });
    await expect(asked).rejects.toMatchObject({ code: 'UND_ERR_HEADERS_TIMEOUT' });
    await dispatcher.destroy();
  });
});

it.each(['user:secret@proxy.internal:3128', 'http://user:secret%@proxy.internal:3128'])(
  'reports an invalid proxy of the environment without showing it: %s',
  async (address) => {
    for (const name of ['https_proxy', 'HTTPS_PROXY']) vi.stubEnv(name, address);
    const error = await rejection(createDispatcher('environment'));
    expect(error).toMatchObject({ name: 'InvalidArgumentError' });
    expect(error.message).toMatch(/^invalid proxy \((URI malformed|Invalid URL.*)\)\. Set HTTPS_PROXY /);
    expect(inspect(error, { depth: 9 })).not.toContain('secret');
  },
);
