import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { MockAgent } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { json, raw, reset, ScriptedServer } from './scripted-server.ts';
import { rejection, testClient, transports } from './test-client.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());
afterEach(() => vi.unstubAllEnvs());

describe.each(transports)('client.request() over %s', (_name, options) => {
  it('reaches endpoints unknown to the package', async () => {
    server.script(json(200, [1, 2]));
    const { client } = testClient(`${server.origin}/prefix`, options);
    const call = client.request<number[]>('put', '/v2/new%20things?a=1', {
      query: { b: 2 },
      body: { c: 3 },
      extraBody: { d: 4 },
      headers: { 'X-Extra': 'yes', 'x-service-sdk': null },
    });
    expect(await call).toEqual([1, 2]);
    const [seen] = server.requests;
    expect(seen).toMatchObject({
      method: 'PUT',
      url: '/prefix/v2/new%20things?a=1&b=2',
      body: '{"c":3,"d":4}',
    });
    expect(seen?.headers).toMatchObject({ 'x-extra': 'yes', 'content-type': 'application/json' });
    expect(seen?.headers).not.toHaveProperty('x-service-sdk');
  });

  it.each([
    ['/v1/x?filter=a?b&c=d', '/v1/x?filter=a?b&c=d&e=1'],
    ['/v1/x??', '/v1/x??&e=1'],
    ['/v1/x?', '/v1/x?e=1'],
  ])('sends the complete query of %s', async (path, url) => {
    server.script(json(200, {}));
    await testClient(server.origin, options).client.request('GET', path, { query: { e: 1 } });
    expect(server.requests).toMatchObject([{ url }]);
  });

  it('returns undefined without a body', async () => {
    server.script(raw(204, ''));
    expect(await testClient(server.origin, options).client.request('DELETE', '/v1/x')).toBeUndefined();
  });

  it('returns text for other content types', async () => {
    server.script(raw(200, 'up 1', { 'content-type': 'text/plain' }));
    expect(await testClient(server.origin, options).client.request('GET', '/metrics')).toBe('up 1');
    server.script(raw(200, 'up 1', { 'content-type': 'application/json' }));
    const error = await rejection(testClient(server.origin, options).client.request('GET', '/metrics'));
    expect(error.name).toBe('ResponseShapeError');
  });

  it.each([
    ['GET', {}, 2],
    ['PUT', {}, 2],
    ['DELETE', {}, 2],
    ['POST', {}, 1],
    ['PATCH', {}, 1],
    ['POST', { idempotencyKey: 'k' }, 2],
  ])('sends a broken %s with %j %d times', async (method, extra, count) => {
    server.script(reset, json(200, {}));
    const call = testClient(server.origin, options).client.request(method, '/v1/x', extra);
    await call.catch(() => {});
    expect(server.requests).toHaveLength(count);
  });

  it('rejects addresses outside the deployment and bodies that are not JSON-serializable', async () => {
    server.script(json(200, {}));
    const { client } = testClient(server.origin, options);
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    for (const call of [
      client.request('GET', 'https://evil.example/v1'),
      client.request('POST', '/v1/x', { body: cycle }),
      client.request('POST', '/v1/x', { body: 1n }),
      client.request('POST', '/v1/x', { body: () => 1 }),
      client.agents.get('..'),
      client.agents.get('a', { headers: { x: 'line\nbreak' } }),
      client.agents.get('a', { extraQuery: { x: Number.NaN } }),
    ]) {
      expect(await rejection(call)).toMatchObject({ name: 'InvalidArgumentError' });
    }
    expect(server.requests).toHaveLength(0);
  });
});

describe('a dispatcher of your own', () => {
  it('is used, such as a MockAgent', async () => {
    const dispatcher = new MockAgent();
    dispatcher.disableNetConnect();
    const pool = dispatcher.get('https://actlog.example.com');
    pool.intercept({ path: '/v1/agents/a' }).reply(503, { error: { code: 'OVERLOADED', message: 'x' } });
    pool.intercept({ path: '/v1/agents/a' }).reply(200, { id: 'a' });
    const { client } = testClient('https://actlog.example.com', { dispatcher });
    expect(await client.agents.get('a')).toEqual({ id: 'a' });
    dispatcher.assertNoPendingInterceptors();
    await dispatcher.close();
  });
});

describe('proxies', () => {
  let proxy: Server;
  const proxied: string[] = [];
  beforeAll(async () => {
    proxy = createServer((request, response) => {
      proxied.push(`${request.method} ${request.url}`);
      response.end('{"id":"through the proxy"}');
    });
    proxy.on('connect', (request, socket) => {
      proxied.push(`CONNECT ${request.url}`);
      const upstream = connect(Number(request.url?.split(':')[1]), '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy());
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
  });
  afterAll(async () => {
    proxy.closeAllConnections();
    proxy.close();
    await once(proxy, 'close');
  });
  afterEach(() => proxied.splice(0));
  const proxyAddress = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const { port } = { port: () => new URL(server.origin).port };

  it('are used when set by the option', async () => {
    server.script(json(200, { id: 'a' }));
    const { client } = testClient(server.origin, { proxy: proxyAddress() });
    await client.agents.get('a');
    expect(proxied).toHaveLength(1);
  });

  it('of the environment are used, except for this machine or when disabled', async () => {
    server.script(json(200, { id: 'a' }));
    for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'])
      vi.stubEnv(name, proxyAddress());
    for (const name of ['no_proxy', 'NO_PROXY']) vi.stubEnv(name, '');
    await testClient(server.origin).client.agents.get('a');
    expect(proxied).toEqual([]);
    const elsewhere = { allowInsecureHttp: true, maxRetries: 0 };
    const address = `http://actlog.invalid:${port()}`;
    await testClient(address, elsewhere).client.agents.get('a');
    expect(proxied).toHaveLength(1);
    expect(proxied[0]).toContain(`actlog.invalid:${port()}`);
    await rejection(testClient(address, { ...elsewhere, proxy: false }).client.agents.get('a'));
    expect(proxied).toHaveLength(1);
  });
});
