import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listDecisions } from '@actlog/client/server';
import { ClientCredentialsProvider } from '@modelcontextprotocol/sdk/client/auth-extensions.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { AuthorizationServer, ProtectedServer, secret } from './authorization-server.ts';
import { type Ending, ListeningGateway } from './connections.ts';
import { officialServer, RawGateway } from './raw-gateway.ts';
import { TestService } from './service.ts';

let service: TestService;
let users: AuthorizationServer;
let servers: AuthorizationServer;
let upstream: ProtectedServer;
const endings: Ending[] = [];

beforeAll(async () => {
  service = await TestService.start();
  users = await AuthorizationServer.start(['ada', 'bob']);
  servers = await AuthorizationServer.start(['gateway'], users.issuer);
  upstream = await ProtectedServer.start(servers.issuer);
});
afterEach(async () => {
  for (const ending of endings.splice(0)) await ending.end();
  servers.refusesExchange = false;
});
afterAll(async () => {
  await upstream.close();
  await servers.close();
  await users.close();
  await service.close();
});

function settingsFile(settings: object): string {
  const file = join(service.newFolder(), 'authorize.json');
  writeFileSync(file, JSON.stringify({ issuers: [{ issuer: users.issuer }], ...settings }));
  return file;
}

const enforce = ['--guard', 'enforce', '--on-unavailable', 'deny'];

async function listen(
  settings: object,
  server: readonly string[],
  options: readonly string[] = enforce,
): Promise<URL> {
  const env = service.environment({ ACTLOG_GATEWAY_CLIENT_SECRET: secret });
  const gateway = new ListeningGateway(env, [...options, '--authorize', settingsFile(settings), ...server]);
  endings.push(gateway);
  return gateway.url;
}

const exchanging = () => ({ exchange: { issuer: servers.issuer, clientId: 'gateway' } });

function post(
  url: URL,
  message: object,
  token?: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', ...message }),
  });
}

const initialize = {
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'oauth', version: '1' } },
};

test('leads a client to the authorization server, and serves it once it has a token', async () => {
  const url = await listen({ scopes: ['mcp'], ...exchanging() }, ['--url', upstream.url, '--agent', 'sdk']);
  const refused = await post(url, initialize);
  expect(refused.status).toBe(401);
  const metadataUrl = `${url.origin}/.well-known/oauth-protected-resource/mcp`;
  expect(refused.headers.get('www-authenticate')).toBe(
    `Bearer resource_metadata="${metadataUrl}", scope="mcp"`,
  );
  expect(await (await fetch(metadataUrl)).json()).toEqual({
    resource: url.href,
    authorization_servers: [users.issuer],
    bearer_methods_supported: ['header'],
    scopes_supported: ['mcp'],
  });
  const client = new Client({ name: 'sdk-client', version: '1' });
  const authProvider = new ClientCredentialsProvider({
    clientId: 'ada',
    // The SDK does not encode it (RFC 6749, section 2.3.1).
    clientSecret: encodeURIComponent(secret),
    scope: 'mcp',
    expectedIssuer: users.issuer,
  });
  await client.connect(new StreamableHTTPClientTransport(url, { authProvider }) as Transport);
  expect(await client.callTool({ name: 'read', arguments: {} })).toMatchObject({
    content: [{ text: 'done for ada' }],
  });
  await client.close();
  const [decision] = await listDecisions(service.client, { agentId: 'sdk' }).toArray();
  expect(decision).toMatchObject({ toolName: 'read', principal: 'ada' });
});

test('exchanges the token of a user once, and never passes it on', async () => {
  servers.exchanges.length = 0;
  upstream.requests.length = 0;
  const url = await listen(exchanging(), ['--url', upstream.url]);
  const token = await users.token('ada', url.href);
  for (const id of [1, 2]) {
    expect((await post(url, { id, method: 'tools/list' }, token)).status).toBe(200);
  }
  expect(servers.exchanges).toMatchObject([{ subject_token: token, resource: upstream.url }]);
  expect(upstream.requests.map(({ claims }) => claims)).toMatchObject([
    { user: 'ada', aud: upstream.url, iss: servers.issuer },
    { user: 'ada' },
  ]);
  expect(JSON.stringify(upstream.requests)).not.toContain(token);
  servers.refusesExchange = true;
  const other = await post(url, initialize, await users.token('bob', url.href));
  expect([other.status, await other.text()]).toEqual([
    403,
    expect.stringContaining('no token (invalid_target)'),
  ]);
  expect(other.headers.get('www-authenticate')).toBeNull();
});

test('passes no token on without an exchange, nor the challenge of the server', async () => {
  const url = await listen({}, ['--url', upstream.url]);
  const response = await post(url, initialize, await users.token('ada', url.href));
  expect(response.status).toBe(502);
  expect(response.headers.get('www-authenticate')).toBeNull();
  expect(await response.text()).toContain('did not accept the request of the gateway (HTTP 401)');
});

test('accepts only tokens that the issuer made for this gateway', async () => {
  const url = await listen({}, ['--', ...officialServer('everything', 'stdio')]);
  const token = await users.token('ada', url.href);
  const [header, claims, signature] = token.split('.');
  const none = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${claims}.`;
  const bad = [
    await users.token('ada', 'https://other.example/mcp'),
    await users.token('ada', `${url.origin}/other`),
    await servers.token('gateway', url.href),
    `${header}.${claims}.${signature?.replace(/^./, (first) => (first === 'A' ? 'B' : 'A'))}`,
    none,
    'opaque',
  ];
  for (const one of bad) {
    const response = await post(url, initialize, one);
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toContain('resource_metadata="');
    expect(await response.text()).not.toContain(one);
  }
  expect((await post(new URL(`${url}?access_token=${token}`), initialize)).status).toBe(401);
  expect((await post(url, initialize, token)).status).toBe(200);
});

test('needs the scopes of a called tool, and names them', async () => {
  const url = await listen({ scopes: ['mcp'], toolScopes: { 'write_*': ['files:write'] }, ...exchanging() }, [
    '--url',
    upstream.url,
  ]);
  const call = { id: 1, method: 'tools/call', params: { name: 'write_file', arguments: {} } };
  const refused = await post(url, call, await users.token('ada', url.href));
  expect(refused.status).toBe(403);
  expect(refused.headers.get('www-authenticate')).toMatch(
    /^Bearer error="insufficient_scope", .*resource_metadata="[^"]+", scope="mcp files:write"$/,
  );
  expect((await post(url, call, await users.token('ada', url.href, 'mcp files:write'))).status).toBe(200);
  expect((await post(url, call, await users.token('ada', url.href, 'files:write'))).status).toBe(403);
});

test.each([
  ['stdio', () => ['--', ...officialServer('everything', 'stdio')]],
  ['HTTP', () => ['--url', upstream.url]],
])('does not let one user into the session of another, with a server over %s', async (kind, server) => {
  const url = await listen(kind === 'HTTP' ? exchanging() : {}, server());
  const ada = await users.token('ada', url.href);
  const bob = await users.token('bob', url.href);
  const session = (await post(url, initialize, ada)).headers.get('mcp-session-id') ?? '';
  expect(session).not.toBe('');
  const list = { id: 2, method: 'tools/list' };
  expect((await post(url, list, bob, { 'mcp-session-id': session })).status).toBe(404);
  expect((await post(url, list, ada, { 'mcp-session-id': session })).status).toBe(200);
});

test('records the calls of the agent that the token verifies, whatever name the client gives itself', async () => {
  const issuers = [{ issuer: users.issuer, agents: { ada: 'verified-ada' } }];
  const url = await listen({ issuers, ...exchanging() }, ['--url', upstream.url]);
  const token = await users.token('ada', url.href);
  const session = (await post(url, initialize, token)).headers.get('mcp-session-id') ?? '';
  const call = { id: 2, method: 'tools/call', params: { name: 'read', arguments: {} } };
  await post(url, call, token, { 'mcp-session-id': session });
  expect(await service.calls('verified-ada', 1)).toMatchObject([{ toolName: 'read', status: 200 }]);
  expect((await post(url, initialize, await users.token('bob', url.href))).status).toBe(401);
});

test.each([
  [{ issuers: [] }, 'issuers in the file of --authorize: must have an issuer'],
  [
    { issuers: [{ issuer: 'http://login.example.com' }] },
    'issuers.0.issuer in the file of --authorize: must be an https',
  ],
  [{ issuers: [{ issuer: 'https://a.example', algorithms: ['HS256'] }] }, 'issuers.0.algorithms.0'],
  [{ scope: ['a'] }, 'Unrecognized key: "scope"'],
])('rejects settings such as %j', async (settings, message) => {
  const args = ['--listen', '0', '--authorize', settingsFile(settings), '--url', upstream.url];
  const gateway = RawGateway.run(service.environment(), args);
  expect((await gateway.exit).code).toBe(1);
  expect(gateway.stderr).toContain(message);
});
