import { type EndpointName, endpointNames, endpoints } from '@actlog/protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, ScriptedServer } from './scripted-server.ts';
import { testClient, testKey, transports } from './test-client.ts';
import { attemptLimitMs } from './test-clock.ts';

const server = new ScriptedServer();
beforeAll(() => server.start());
afterAll(() => server.stop());

const event = {
  eventId: '6c84fb90-12c4-11e1-840d-7b25c5ee775a',
  agentId: 'agt_1',
  sessionId: 'session 1',
  sourceTimestamp: '2026-01-01T00:00:00.000Z',
  category: 'tool_api',
  schemaVersion: '1.0',
  payload: { toolName: 'search', argumentsHash: 'sha256:00', responseStatus: 200 },
};
const check = { agentId: 'agt_1', action: { toolName: 'search', argumentsHash: 'sha256:00' } };
const id = 'a/b ü';

type Client = ReturnType<typeof testClient>['client'];
interface Row {
  readonly call: (client: Client) => PromiseLike<unknown>;
  readonly url?: string;
  readonly body?: unknown;
}

/** Every endpoint as called by a user, with the expected request. */
const rows: Record<EndpointName, Row> = {
  'events.create': { call: (client) => client.events.create(event), body: event },
  'sessions.list': {
    call: (client) => client.sessions.list({ limit: 5, agentId: 'a&b', minRiskScore: 0.5 }),
    url: '/v1/sessions?limit=5&agentId=a%26b&minRiskScore=0.5',
  },
  'sessions.get': {
    call: (client) => client.sessions.get(id, { cursor: 'c=' }),
    url: '/v1/sessions/a%2Fb%20%C3%BC?cursor=c%3D',
  },
  'sessions.risk': { call: (client) => client.sessions.risk(id) },
  'sessions.export': { call: (client) => client.sessions.export(id) },
  'agents.create': { call: (client) => client.agents.create({ name: 'n' }), body: { name: 'n' } },
  'agents.list': {
    call: (client) => client.agents.list({ registered: false }),
    url: '/v1/agents?registered=false',
  },
  'agents.get': { call: (client) => client.agents.get(id) },
  'agents.update': { call: (client) => client.agents.update(id, { owner: null }), body: { owner: null } },
  'agents.sessions': { call: (client) => client.agents.sessions(id) },
  'policies.create': {
    call: (client) => client.policies.create({ name: 'n', effect: 'deny' }),
    body: { name: 'n', effect: 'deny' },
  },
  'policies.list': { call: (client) => client.policies.list() },
  'policies.get': { call: (client) => client.policies.get(id) },
  'policies.update': { call: (client) => client.policies.update(id, { name: 'm' }), body: { name: 'm' } },
  'policies.archive': { call: (client) => client.policies.archive(id) },
  'policies.check': { call: (client) => client.policies.check(check), body: check },
  'guardian.pendingActions.list': { call: (client) => client.guardian.pendingActions.list() },
  'guardian.pendingActions.decide': {
    call: (client) => client.guardian.pendingActions.decide(id, { decision: 'deny' }),
    body: { decision: 'deny' },
  },
  'notificationChannels.create': {
    call: (client) => client.notificationChannels.create({ url: 'https://example.com' }),
    body: { url: 'https://example.com' },
  },
  'notificationChannels.list': { call: (client) => client.notificationChannels.list() },
};

const sample = {
  eventId: event.eventId,
  receivedAt: 'now',
  warnings: [],
  nextCursor: null,
  kept: { deep: [1] },
};

/** Headers added by HTTP itself and by `fetch`; all others must come from the client. */
const addedByHttp =
  /^(host|connection|content-length|transfer-encoding|accept-language|accept-encoding|sec-fetch-mode)$/;

describe.each(transports)('every endpoint over %s', (_name, options) => {
  it.each(endpointNames)('%s sends what the table says, and nothing else', async (endpoint) => {
    const { method, path, success, idempotencyKey } = endpoints[endpoint];
    const { call, url = path.replace(':id', encodeURIComponent(id)), body } = rows[endpoint];
    server.script(json(success, sample));
    const result = await call(testClient(server.origin, options).client);

    const [seen, ...more] = server.requests;
    expect(more).toEqual([]);
    expect({ method: seen?.method, url: seen?.url }).toEqual({ method, url });
    expect(seen?.body === '' ? undefined : JSON.parse(seen?.body ?? '')).toEqual(body);
    const sent = Object.fromEntries(
      Object.entries(seen?.headers ?? {}).filter(([header]) => !addedByHttp.test(header)),
    );
    expect(sent).toEqual({
      authorization: `Bearer ${testKey}`,
      'x-service-sdk': expect.stringMatching(/^@actlog\/client\/\d+\.\d+\.\d+/),
      'user-agent': expect.stringMatching(/^@actlog\/client\/\d+\.\d+\.\d+/),
      accept: 'application/json, */*;q=0.5',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(idempotencyKey ? { 'idempotency-key': expect.stringMatching(/^[\da-f-]{36}$/) } : {}),
    });
    const whole = endpoints[endpoint].list ? (result as { body: unknown }).body : result;
    expect(whole).toEqual(sample); // unknown fields are kept
  });
});

describe('an event', () => {
  it('gets a default id, timestamp and schema version', async () => {
    server.script(json(202, sample));
    const { eventId, sourceTimestamp, schemaVersion, ...given } = event;
    await testClient(server.origin).client.events.create(given);
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual({
      ...given,
      eventId: expect.stringMatching(/^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/),
      sourceTimestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      schemaVersion: '1.0',
    });
  });

  it('is sent as it was at the time of the call', async () => {
    server.script(json(202, sample));
    const changing = { ...event, payload: { ...event.payload } };
    const call = testClient(server.origin).client.events.create(changing);
    changing.payload.toolName = 'changed afterwards';
    await call;
    expect(JSON.parse(server.requests[0]?.body ?? '')).toEqual(event);
  });

  it('accepts a Date, and rejects an invalid one', async () => {
    server.script(json(202, sample));
    const { client } = testClient(server.origin);
    await client.events.create({ ...event, sourceTimestamp: new Date(0) });
    expect(JSON.parse(server.requests[0]?.body ?? '').sourceTimestamp).toBe('1970-01-01T00:00:00.000Z');
    const invalid = client.events.create({ ...event, sourceTimestamp: new Date(Number.NaN) });
    await expect(invalid).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  });

  it('is rejected for an acknowledgement without the required fields', async () => {
    server.script(json(202, { eventId: event.eventId }));
    const call = testClient(server.origin).client.events.create(event);
    await expect(call).rejects.toMatchObject({ name: 'ResponseShapeError', status: 202 });
  });
});

describe('a check', () => {
  it('asks the service to wait, and extends the time limit of the attempt', async () => {
    server.script(json(200, sample));
    const { client, clock } = testClient(server.origin);
    await client.policies.check(check, { waitSeconds: 25 });
    expect(server.requests[0]?.headers.prefer).toBe('wait=25');
    expect(clock.limits).toEqual([attemptLimitMs + 25_000]);
  });

  it('asks for a dry run, which does not wait', async () => {
    server.script(json(200, sample));
    const { client, clock } = testClient(server.origin);
    await client.policies.check(check, { dryRun: true, waitSeconds: 25 });
    expect(server.requests[0]?.headers.prefer).toBe('dry-run');
    expect(clock.limits).toEqual([attemptLimitMs]);
  });

  it('rejects an unsupported waitSeconds', async () => {
    const { client } = testClient(server.origin);
    await expect(client.policies.check(check, { waitSeconds: 26 })).rejects.toThrow(/waitSeconds/);
  });
});
