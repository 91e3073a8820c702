import { once } from 'node:events';
import { connect } from 'node:net';
import { type EndpointName, endpointNames, type Scope } from '@actlog/protocol';
import { beforeEach, expect, test, vi } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { readError, testServer } from '../test-server.ts';
import { consoleRoutes, idOf, keysRoutes, TestConsole } from './test-console.ts';

const scopes: readonly Scope[] = ['ingest', 'read', 'manage', 'decide'];

let owner: TestConsole;

beforeEach(async () => {
  owner = new TestConsole(await testServer({}));
});

/** Returns the path of a route, with the caller's own key as the id. */
function ownPath(path: string): string {
  return path.replace(':id', idOf(owner.server.apiKey));
}

/** Returns a console with a key that lacks a scope. */
async function without(scope: Scope): Promise<TestConsole> {
  const { apiKey } = await owner.create({ name: 'a', scopes: scopes.filter((each) => each !== scope) });
  return owner.as(apiKey);
}

test.each(consoleRoutes)('%s %s returns 401 without a key, and reads no body', async (method, path) => {
  const body = method === 'POST' ? '{' : undefined;
  for (const key of ['', newApiKey('live'), `${owner.server.apiKey}x`]) {
    const response = await owner.as(key).send(method, ownPath(path), body);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    const error = await readError(response);
    expect(error).toMatchObject({ status: 401, code: 'AUTHENTICATION_FAILED', details: [] });
    expect(error.message).toBe('The API key is invalid or missing.');
  }
});

test.each(keysRoutes.flatMap(([method, path]) => scopes.map((scope) => [method, path, scope] as const)))(
  '%s %s returns 403 to a key without the scope %s, and reads no body',
  async (method, path, scope) => {
    const lacking = await without(scope);
    const error = await lacking.refused(method, ownPath(path), method === 'POST' ? '{' : undefined);
    expect(error).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' });
    expect(error.message).toMatch(
      `The API key lacks the scope "${scope}", and this request requires every scope.`,
    );
  },
);

test('names all scopes that a key lacks', async () => {
  const { apiKey } = await owner.create({ name: 'agent', scopes: ['ingest'] });
  const { message } = await owner.as(apiKey).refused('GET', 'keys');
  expect(message).toMatch('lacks the scopes "read", "manage", "decide"');
});

test.each(['rotate', 'revoke'])(
  'responds to %s for a key of another tenant as for an unknown key',
  async (what) => {
    const { admin } = owner.server.server;
    await admin.tenants.create('rival');
    const rival = owner.as((await admin.keys.create('rival', { name: 'r' })).apiKey);
    const target = idOf(owner.server.apiKey);
    const foreign = await rival.refused('POST', `keys/${target}/${what}`);
    expect(foreign).toMatchObject({ status: 404, code: 'NOT_FOUND', details: [] });
    for (const id of ['0123456789', 'unknown', `${target}0`, '%00', '%F0%9F%98%80', 'a%2Fb', '__proto__']) {
      const unknown = await rival.refused('POST', `keys/${id}/${what}`);
      expect({ ...unknown, headers: 0 }).toEqual({ ...foreign, headers: 0 });
      expect([...unknown.headers.keys()].sort()).toEqual([...foreign.headers.keys()].sort());
    }
    // A path that only begins with an id is unknown, too.
    for (const rest of ['%00', '%00x', '%20', '%0A']) {
      expect((await owner.refused('POST', `keys/${target}${rest}/${what}`)).status).toBe(404);
    }
    expect((await rival.keys()).map(({ name }) => name)).toEqual(['r']);
    expect(await owner.keys()).toContainEqual(expect.objectContaining({ id: target, expiresAt: null }));
  },
);

test('responds to unknown paths and methods as the endpoint table does', async () => {
  const wrong = [
    ['DELETE', 'keys', 'GET, HEAD, POST'],
    ['PATCH', 'identity', 'GET, HEAD'],
    ['OPTIONS', 'keys', 'GET, HEAD, POST'],
    ['GET', 'keys/0123456789/rotate', 'POST'],
    ['PUT', 'keys/0123456789/revoke', 'POST'],
  ] as const;
  for (const [method, path, allow] of wrong) {
    const error = await owner.refused(method, path);
    expect(error).toMatchObject({ status: 405, code: 'METHOD_NOT_ALLOWED' });
    expect(error.headers.get('allow')).toBe(allow);
  }
  const unknown = ['', 'key', 'keys/', 'keys/0123456789', 'keys//rotate', 'keys/0123456789/show'];
  for (const path of unknown) {
    const error = await owner.refused(path.endsWith('rotate') ? 'POST' : 'GET', path);
    expect([path, error.status, error.code]).toEqual([path, 404, 'NOT_FOUND']);
    expect(error.message).toContain('no such endpoint');
  }
  expect((await owner.send('HEAD', 'keys')).status).toBe(200);
});

test('refuses a query, and a body that is not JSON or too long', async () => {
  expect((await owner.refused('GET', 'keys?limit=5')).details).toMatchObject([{ path: 'query.limit' }]);
  expect((await owner.refused('POST', 'keys', 'x'.repeat(300_000))).status).toBe(413);
  const text = await owner.send('POST', 'keys', 'name=a', { 'content-type': 'text/plain' });
  expect(text.status).toBe(415);
});

test('serves no page of another origin', async () => {
  const origin = { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' };
  for (const method of ['GET', 'POST', 'OPTIONS']) {
    const { headers } = await owner.send(method, 'keys', undefined, origin);
    expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.any(String),
    });
  }
});

test('counts requests of the console against the rate of their key', async () => {
  const { server } = new TestConsole(await testServer({ rateLimit: { requestsPerSecond: 0.01, burst: 2 } }));
  const limited = new TestConsole(server);
  const response = await limited.send('GET', 'identity');
  expect(response.headers.get('ratelimit')).toMatch(/^"key";r=1;t=\d+$/);
  await server.ok('sessions.list');
  const error = await limited.refused('GET', 'keys');
  expect(error).toMatchObject({ status: 429, code: 'RATE_LIMITED' });
  expect(Number(error.headers.get('retry-after'))).toBeGreaterThan(0);
});

test('reserves memory for bodies together with all other requests', async () => {
  const console = new TestConsole(await testServer({ maxQueuedBytes: 1 }));
  const { server } = console;
  const { hostname, port } = new URL(server.server.url);
  const sender = connect(Number(port), hostname);
  const head = ['POST /console/api/keys HTTP/1.1', 'host: x', `authorization: Bearer ${server.apiKey}`];
  // The server sends 100-continue once it has read the head.
  head.push('content-type: application/json', 'content-length: 1000', 'expect: 100-continue');
  sender.write(`${head.join('\r\n')}\r\n\r\n{`);
  await once(sender, 'data');
  const refused = await vi.waitFor(() => console.refused('POST', 'keys', { name: 'a' }));
  expect([refused.status, refused.code]).toEqual([503, 'OVERLOADED']);
  expect((await server.refused('agents.create', { body: { name: 'a' } })).status).toBe(503);
  await server.record({});
  sender.destroy();
  await vi.waitFor(() => console.create({ name: 'a' }));
  // The response has released its memory, even after an error.
  expect((await console.refused('POST', 'keys', {})).status).toBe(400);
  await console.create({ name: 'b' });
});

test('responds without a console as for any unknown path', async () => {
  const off = new TestConsole(await testServer({ console: false }));
  const [, ...others] = await Promise.all(
    ['nothing', ...consoleRoutes.map(([, path]) => path)].map((path) => off.refused('POST', path, {})),
  );
  const unknown = await readError(await fetch(`${off.server.server.url}/v2/events`));
  for (const error of others) expect({ ...error, headers: 0 }).toEqual({ ...unknown, headers: 0 });
  expect((await off.refused('GET', 'keys')).status).toBe(404);
});

test('is not part of the endpoint table and its document', async () => {
  const document = await (await fetch(`${owner.server.server.url}/openapi.json`)).text();
  expect(document).not.toContain('/console');
  expect(endpointNames.filter((name: EndpointName) => name.includes('key'))).toEqual([]);
});
