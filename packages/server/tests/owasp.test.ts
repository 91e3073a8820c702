import { type EndpointName, endpointNames, endpoints, type SentOf } from '@actlog/protocol';
import { beforeEach, expect, test } from 'vitest';
import { checkBody, readError, type TestServer, testServer } from './test-server.ts';

/** Named after the OWASP API Security Top 10, 2023. */

let owner: TestServer;
let rival: TestServer;
let pendingActionId: string;
let policy: SentOf<'policies.create'>;

beforeEach(async () => {
  owner = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  await owner.server.admin.tenants.create('rival');
  rival = owner.as((await owner.server.admin.keys.create('rival', { name: 'r' })).apiKey);
  await owner.record({});
  await owner.ok('agents.update', { id: 'billing-agent', body: { name: 'Owned' } });
  policy = await owner.policy({ effect: 'require_approval' });
  pendingActionId = (await owner.check({ actionId: 'call-1' })).pendingActionId as string;
  await owner.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/' } });
});

/** Valid bodies of the endpoints with a body. */
const bodies: Partial<Record<EndpointName, unknown>> = {
  'agents.update': { name: 'stolen' },
  'policies.update': { name: 'stolen' },
  'guardian.pendingActions.decide': { decision: 'approve' },
};

const byId = endpointNames.filter((name) => endpoints[name].path.includes(':id'));

function ownedId(name: EndpointName): string {
  if (name.startsWith('sessions')) return 'thread-1';
  if (name.startsWith('agents')) return 'billing-agent';
  return name.startsWith('policies') ? policy.id : pendingActionId;
}

test.each(byId)('API1 broken object level authorization: %s of another tenant is unknown', async (name) => {
  const body = bodies[name];
  const foreign = await rival.refused(name, { id: ownedId(name), body });
  const unknown = await rival.refused(name, { id: 'unknown', body });
  expect({ ...foreign, headers: 0 }).toEqual({ ...unknown, headers: 0 });
  expect(foreign).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  expect([...foreign.headers.keys()].sort()).toEqual([...unknown.headers.keys()].sort());
});

test('API1 broken object level authorization: keeps lists and writes within their tenant', async () => {
  for (const name of endpointNames) {
    if (!endpoints[name].list || name === 'agents.sessions') continue;
    expect([name, (await rival.ok(name as 'sessions.list')).items]).toEqual([name, []]);
  }
  expect((await rival.check({ actionId: 'call-1' })).decision).toBe('allow');
  await rival.record({});
  await rival.ok('agents.create', { body: { id: 'mine', name: 'Mine' } });
  expect((await owner.ok('sessions.get', { id: 'thread-1' })).eventCount).toBe(2);
  expect((await owner.ok('agents.get', { id: 'billing-agent' })).name).toBe('Owned');
});

test('API1 broken object level authorization: allows an eventId of another tenant', async () => {
  const { events } = await owner.ok('sessions.get', { id: 'thread-1' });
  const eventId = events[0]?.eventId as string;
  await rival.record({ eventId, sessionId: 'theirs' });
  expect((await rival.ok('sessions.get', { id: 'theirs' })).eventCount).toBe(1);
});

test.each([
  ['agents.update', { registered: true }],
  ['agents.update', { createdAt: '2020-01-01T00:00:00Z' }],
  ['agents.update', { tenantId: 1 }],
  ['agents.create', { name: 'x', status: 'active' }],
  ['policies.update', { version: 9 }],
  ['policies.update', { status: 'archived' }],
  ['policies.create', { name: 'x', effect: 'deny', id: 'pol_mine' }],
  ['guardian.pendingActions.decide', { decision: 'approve', decidedBy: 'the boss' }],
  ['notificationChannels.create', { url: 'https://93.184.216.34/', secret: 'whsec_mine' }],
] as const)('API3 broken object property level authorization: %s refuses %j', async (name, body) => {
  const error = await owner.refused(name, { id: ownedId(name), body });
  expect(error.status).toBe(400);
  expect(error.details.map(({ code }) => code)).toContain('unrecognized_key');
});

test('API3 broken object property level authorization: no response contains a digest or a stored secret', async () => {
  const { secret } = await owner.ok('notificationChannels.create', {
    body: { url: 'http://127.0.0.1:9/other' },
  });
  const responses: string[] = [];
  for (const name of endpointNames) {
    if (endpoints[name].method !== 'GET') continue;
    responses.push(await (await owner.send(name, { id: ownedId(name) })).text());
  }
  const text = responses.join('\n');
  expect(text).not.toContain(secret);
  expect(text).not.toContain(owner.apiKey);
  expect(text).not.toMatch(/digest|tenant_id|tenantId|whsec_/);
});

test.each([
  ['a page without end', 'sessions.list', { query: { limit: 1_000_000 } }],
  ['a body without end', 'agents.create', { body: { name: 'x'.repeat(300_000) } }],
  ['a depth without end', 'agents.create', { body: `{"name":"x","metadata":${'{"a":'.repeat(999)}1` }],
  [
    'a condition without end',
    'policies.create',
    {
      body: {
        name: 'x',
        effect: 'deny',
        condition: 'args.a.all(x, args.a.all(y, args.a.all(z, x + y == z)))',
      },
    },
  ],
] as const)('API4 unrestricted resource consumption: refuses %s', async (_what, name, options) => {
  const { status } = await owner.refused(name, options);
  expect([400, 413]).toContain(status);
});

test('API5 broken function level authorization: a key for events cannot manage, read or decide', async () => {
  const { apiKey } = await owner.server.admin.keys.create(owner.tenant, { name: 'a', scopes: ['ingest'] });
  const agent = owner.as(apiKey);
  await agent.record({});
  for (const name of endpointNames) {
    if (endpoints[name].scope === 'ingest') continue;
    expect((await agent.send(name, { id: ownedId(name), body: bodies[name] })).status).toBe(403);
  }
});

test('API6 unrestricted access to sensitive business flows: makes a decision once, bound to its action', async () => {
  const id = pendingActionId;
  await owner.ok('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  const replay = await owner.refused('guardian.pendingActions.decide', { id, body: { decision: 'deny' } });
  expect(replay.code).toBe('ALREADY_DECIDED');
  const action = { toolName: 'refund', argumentsHash: 'sha256:ff' };
  const other = await owner.refused('policies.check', { body: checkBody({ actionId: 'call-1', action }) });
  expect(other.code).toBe('ACTION_MISMATCH');
  const stranger = await owner.check({ actionId: 'call-1', agentId: 'other-agent' });
  expect(stranger.decision).toBe('require_approval');
});

test.each([
  'http://169.254.169.254/latest/meta-data/',
  'http://localhost:8080/',
  'http://10.0.0.1/',
  'http://[::1]/',
  'http://0x7f.1/',
  'https://user:password@93.184.216.34/',
  'file:///etc/passwd',
  'gopher://93.184.216.34/',
])('API7 server side request forgery: refuses the webhook %s', async (url) => {
  const strict = await testServer();
  const error = await strict.refused('notificationChannels.create', { body: { url } });
  expect(error).toMatchObject({ status: 400, details: [{ path: 'url' }] });
});

test('API8 security misconfiguration: sends strict headers, and errors without internals', async () => {
  const response = await owner.send('sessions.get', { id: 'unknown' });
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
  });
  expect(response.headers.get('access-control-allow-origin')).toBeNull();
  expect(response.headers.get('x-powered-by') ?? response.headers.get('server')).toBeNull();
  const error = await readError(response);
  expect(error.message).not.toMatch(/sqlite|select|\.ts|node_modules| at /i);
  await expect(testServer({ secret: 'secret' })).rejects.toThrow('at least 32 characters');
});
