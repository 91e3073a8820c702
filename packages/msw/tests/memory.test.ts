import { Actlog } from '@actlog/client';
import { contract } from '@actlog/protocol/schemas';
import { setupServer } from 'msw/node';
import { afterEach, expect, it } from 'vitest';
import { actlogMock } from '../src/index.ts';
import { HandlersDispatcher } from '../src/node/index.ts';

const mock = actlogMock({
  agents: [{ id: 'bot', name: 'Bot' }],
  otherKeys: [
    { apiKey: 'al_test_reader', scopes: ['read'] },
    { apiKey: 'al_test_stranger', tenant: 'stranger' },
  ],
});
const dispatcher = new HandlersDispatcher(setupServer(...mock.handlers));
const client = new Actlog({ ...mock.options, dispatcher });

afterEach(() => mock.reset());

async function post(sessionId: string, minute: number, toolName = 'search'): Promise<void> {
  await client.events.create({
    agentId: 'bot',
    sessionId,
    category: 'tool_api',
    sourceTimestamp: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
    payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 },
  });
}

it('lists posted data page by page while more is posted', async () => {
  for (let minute = 0; minute < 7; minute += 1) await post(`s-${minute}`, minute);
  const ids: string[] = [];
  for await (const { id } of client.sessions.list({ limit: 2 })) {
    ids.push(id);
    if (ids.length === 3) await post('s-late', 30);
  }
  expect(ids).toEqual(['s-6', 's-5', 's-4', 's-3', 's-2', 's-1', 's-0']);
  expect(mock.requests('sessions.list')).toHaveLength(4);
  expect(await client.agents.sessions('bot', { limit: 3 }).toArray({ limit: 100 })).toHaveLength(8);
});

it('exports a session whose hash the client verifies, and scores it', async () => {
  for (const [minute, tool] of ['read_inbox', 'web_fetch', 'delete_file'].entries())
    await post('s', minute, tool);
  const exported = await client.sessions.export('s');
  expect(exported).toMatchObject({
    eventCount: 3,
    session: { toolNames: ['read_inbox', 'web_fetch', 'delete_file'] },
  });
  const risk = await client.sessions.risk('s');
  expect(contract['sessions.risk'].response.sent.safeParse(risk).error).toBeUndefined();
  expect(risk.dimensions).toHaveLength(10);
  expect(risk.factors?.length).toBeGreaterThan(0);
  expect(mock.state.sessions[0]?.risk).toEqual({ score: risk.score, level: risk.level });
  expect(risk.score).toBeGreaterThan(0);
});

it('resets to the data of its options', async () => {
  await post('s', 0);
  await client.agents.update('bot', { owner: 'somebody' });
  mock.reset();
  expect(mock.requests()).toEqual([]);
  expect(mock.state).toMatchObject({ events: [], sessions: [], agents: [{ id: 'bot', owner: null }] });
});

it('returns copies that cannot change the state', async () => {
  await post('s', 0);
  const [seen] = mock.events({ sessionId: 's' });
  (seen?.payload as Record<string, unknown>).toolName = 'changed';
  expect(mock.events()[0]?.payload.toolName).toBe('search');
  expect(mock.events({ sessionId: 'other' })).toEqual([]);
});

it('enforces scopes and isolates tenants', async () => {
  await post('s', 0);
  const reader = client.withOptions({ apiKey: 'al_test_reader' });
  await expect(reader.agents.create({ name: 'x' })).rejects.toMatchObject({ code: 'PERMISSION_DENIED' });
  expect(await reader.sessions.get('s')).toMatchObject({ id: 's' });
  const stranger = client.withOptions({ apiKey: 'al_test_stranger' });
  await expect(stranger.sessions.get('s')).rejects.toMatchObject({ status: 404 });
  const unknown = client.withOptions({ apiKey: 'al_test_unknown' });
  await expect(Promise.resolve(unknown.sessions.list())).rejects.toMatchObject({
    code: 'AUTHENTICATION_FAILED',
  });
});

it('accepts ids that need encoding', async () => {
  const id = 'a/b ü?%:id';
  await post(id, 0);
  expect(await client.sessions.get(id)).toMatchObject({ id, eventCount: 1 });
  expect(mock.requests('sessions.get')).toMatchObject([{ status: 200 }]);
});

it('names the invalid option', () => {
  expect(() => actlogMock({ baseURL: 'actlog.test' })).toThrow('baseURL must be an http or https URL');
  expect(() => actlogMock({ baseURL: 'https://actlog.test/v1' })).toThrow('or end in /v1');
  expect(() => actlogMock({ apiKey: 'sk-1' })).toThrow('apiKey must start with al_live_ or al_test_');
  const again = { otherKeys: [{ apiKey: 'al_test_mock' }] };
  expect(() => actlogMock(again)).toThrow('otherKeys[0].apiKey is a duplicate of another key');
  const reed = { otherKeys: [{ apiKey: 'al_test_other', scopes: ['reed' as never] }] };
  expect(() => actlogMock(reed)).toThrow(
    'otherKeys[0].scopes must contain only ingest, read, manage, decide, got reed.',
  );
  const condition = 'action.toolName ==';
  expect(() => actlogMock({ policies: [{ name: 'p', effect: 'deny', condition }] })).toThrow(
    'policies[0] is invalid: condition: ',
  );
  expect(() => mock.addPolicy({ name: '', effect: 'deny' })).toThrow('policies[0] is invalid: name:');
});

it('responds only below a path of the base URL', async () => {
  const below = actlogMock({ baseURL: 'https://host.test/eu/actlog/' });
  expect(below.baseURL).toBe('https://host.test/eu/actlog');
  const server = setupServer(...below.handlers);
  const there = new Actlog({ ...below.options, dispatcher: new HandlersDispatcher(server), maxRetries: 0 });
  expect(await there.agents.list().toArray({ limit: 1 })).toEqual([]);
  const elsewhere = there.withOptions({
    baseURL: 'https://host.test',
    dispatcher: new HandlersDispatcher(server),
  });
  await expect(Promise.resolve(elsewhere.agents.list())).rejects.toMatchObject({
    cause: {
      message: expect.stringContaining('No handler matches GET https://host.test/v1/agents; add one'),
    },
  });
});
