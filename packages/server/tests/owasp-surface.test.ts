import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { endpointNames, endpoints } from '@actlog/protocol';
import { afterEach, expect, test, vi } from 'vitest';
import { readError, type TestServer, testServer } from './test-server.ts';

/** Named after the OWASP API Security Top 10, 2023: access, exposed surface, and responses of third parties. */

const receivers = new Set<Server>();

afterEach(() => {
  vi.useRealTimers();
  for (const receiver of receivers) receiver.closeAllConnections();
  for (const receiver of receivers) receiver.close();
  receivers.clear();
});

/** Starts a receiver of webhooks with a given listener. */
async function receiver(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  receivers.add(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Starts a server with a webhook, and one message to send. */
async function serverWithMessage(url: string): Promise<TestServer> {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  await server.ok('notificationChannels.create', { body: { url } });
  await server.policy({ effect: 'require_approval' });
  await server.check();
  return server;
}

test.each([
  [
    'in the query',
    (apiKey: string) => ({ query: { api_key: apiKey, token: apiKey, authorization: apiKey } }),
  ],
  [
    'in a cookie',
    (apiKey: string) => ({ headers: { authorization: '', cookie: `authorization=${apiKey}` } }),
  ],
  ['in another header', (apiKey: string) => ({ headers: { authorization: '', 'x-api-key': apiKey } })],
  ['without a scheme', (apiKey: string) => ({ headers: { authorization: apiKey } })],
  ['twice in a header', (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey} ${apiKey}` } })],
  ['in capitals', (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey.toUpperCase()}` } })],
  [
    'beside much else',
    (apiKey: string) => ({ headers: { authorization: `Bearer ${apiKey}${'x'.repeat(4000)}` } }),
  ],
])('API2 broken authentication: refuses a key %s', async (_where, place) => {
  const server = await testServer();
  const nobody = server.as('');
  const error = await nobody.refused('sessions.list', place(server.apiKey));
  expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED' });
});

test('API2 broken authentication: creates keys that cannot be guessed', async () => {
  const server = await testServer();
  const keys = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      server.server.admin.keys.create(server.tenant, { name: `key ${index}` }),
    ),
  );
  const secrets = new Set(keys.map(({ apiKey }) => apiKey.replace(/^al_(test|live)_/, '')));
  expect(secrets.size).toBe(20);
  // At least 128 bits, in an alphabet of at most 62 letters.
  for (const secret of secrets) expect(secret.length).toBeGreaterThanOrEqual(22);
});

test('API9 improper inventory management: serves exactly what the document lists', async () => {
  const server = await testServer();
  const document = (await (await fetch(`${server.server.url}/openapi.json`)).json()) as {
    readonly paths: Readonly<Record<string, object>>;
  };
  const listed = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`),
  );
  const served = endpointNames.map((name) => `${endpoints[name].method} ${endpoints[name].path}`);
  expect(listed.filter((route) => route.includes('/v1/')).sort()).toEqual(served.sort());
});

test.each([
  '/v0/sessions',
  '/v2/sessions',
  '/sessions',
  '/admin',
  '/debug',
  '/debug/pprof',
  '/.env',
  '/.git/config',
  '/server-status',
  '/actuator/health',
  '/graphql',
  '/v1/../admin',
  '/v1/tenants',
  '/v1/keys',
])('API9 improper inventory management: serves nothing at %s', async (path) => {
  const server = await testServer();
  const response = await fetch(new URL(path, server.server.url), {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  expect(await readError(response)).toMatchObject({ status: 404, code: 'NOT_FOUND' });
});

test('API10 unsafe consumption of APIs: follows no redirect of a receiver', async () => {
  const visited: string[] = [];
  const inner = await receiver((request, response) => {
    visited.push(request.url ?? '');
    response.end();
  });
  const outer = await receiver((_request, response) => {
    response.writeHead(307, { location: `${inner}/latest/meta-data` }).end();
  });
  const server = await serverWithMessage(outer);
  await vi.waitFor(
    async () => {
      const { items } = await server.ok('notificationChannels.list');
      expect(items[0]?.failureCount).toBeGreaterThan(0);
    },
    { timeout: 10_000 },
  );
  expect(visited).toEqual([]);
});

test('API10 unsafe consumption of APIs: cuts off an endless response, which counts by its status', async () => {
  let wasCut: () => void;
  const cut = new Promise<void>((resolve) => {
    wasCut = resolve;
  });
  const url = await receiver((_request, response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(65_536)));
    };
    response.on('drain', more).on('close', wasCut);
    more();
  });
  const server = await serverWithMessage(url);
  await cut;
  await vi.waitFor(
    async () => {
      const { items } = await server.ok('notificationChannels.list');
      expect(items[0]).toMatchObject({ failureCount: 0, status: 'active' });
      expect(items[0]?.lastDeliveryAt).toBeTypeOf('string');
    },
    { timeout: 10_000 },
  );
});

test('API10 unsafe consumption of APIs: does not show the response of a receiver', async () => {
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/' } });
  const { items } = await server.ok('notificationChannels.list');
  expect(Object.keys(items[0] ?? {}).sort()).toEqual([
    'createdAt',
    'events',
    'failureCount',
    'id',
    'kind',
    'lastDeliveryAt',
    'status',
    'url',
  ]);
});
