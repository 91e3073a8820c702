import type { ListEndpointName } from '@actlog/protocol';
import { afterEach, expect, test, vi } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

afterEach(() => {
  vi.useRealTimers();
});

async function withSessions(count: number): Promise<{ server: TestServer; ids: string[] }> {
  const server = await testServer();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const sourceTimestamp = new Date(Date.UTC(2026, 10, 20, 0, 0, Math.floor(index / 2))).toISOString();
    await server.record({ sessionId: `thread-${index}`, sourceTimestamp, agentId: `agent-${index % 3}` });
    ids.unshift(`thread-${index}`);
  }
  return { server, ids };
}

async function pages(server: TestServer, name: ListEndpointName, query: Record<string, string | number>) {
  const seen: string[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < 50; page += 1) {
    const response: { items: { id: string }[]; nextCursor: string | null } = await server.ok(
      name as 'sessions.list',
      { query: { ...query, ...(cursor && { cursor }) } },
    );
    seen.push(...response.items.map(({ id }) => id));
    cursor = response.nextCursor;
    if (cursor === null) return seen;
  }
  throw new Error('The list does not end.');
}

test('joins pages without a gap or a repeat, newest first, even for equal times', async () => {
  const { server } = await withSessions(11);
  const whole = await pages(server, 'sessions.list', { limit: 200 });
  expect(whole).toHaveLength(11);
  expect(whole[0]).toBe('thread-10');
  for (const limit of [1, 2, 3, 10, 11]) {
    expect(await pages(server, 'sessions.list', { limit })).toEqual(whole);
  }
});

test('shows the items of a growing list once', async () => {
  const { server, ids } = await withSessions(6);
  const first = await server.ok('sessions.list', { query: { limit: 3 } });
  await server.record({ sessionId: 'newcomer', sourceTimestamp: '2026-11-20T01:00:00Z' });
  const query = { limit: 3, cursor: first.nextCursor as string };
  const second = await server.ok('sessions.list', { query });
  const seen = [...first.items, ...second.items].map(({ id }) => id);
  expect([...seen].sort()).toEqual([...ids].sort());
});

test('moves a session with late events down the list, without leaving out others', async () => {
  const { server, ids } = await withSessions(6);
  const first = await server.ok('sessions.list', { query: { limit: 3 } });
  const moved = first.items[0]?.id as string;
  await server.record({ sessionId: moved, sourceTimestamp: '2026-11-19T00:00:00Z' });
  const query = { limit: 50, cursor: first.nextCursor as string };
  const second = await server.ok('sessions.list', { query });
  const seen = [...first.items, ...second.items].map(({ id }) => id);
  expect([...seen].sort()).toEqual([...ids, moved].sort());
  expect(seen.at(-1)).toBe(moved);
});

test('filters the list of sessions', async () => {
  const { server } = await withSessions(9);
  const list = async (query: Record<string, string>) => (await pages(server, 'sessions.list', query)).sort();
  expect(await list({ agentId: 'agent-1' })).toEqual(['thread-1', 'thread-4', 'thread-7']);
  expect(await list({ startedAfter: '2026-11-20T00:00:03Z' })).toEqual(['thread-8']);
  expect(await list({ startedBefore: '2026-11-20T00:00:01Z' })).toEqual(['thread-0', 'thread-1']);
  const both = { agentId: 'agent-1', startedBefore: '2026-11-20T00:00:03Z' };
  expect(await list(both)).toEqual(['thread-1', 'thread-4']);
});

test('lists the sessions in which an agent acted', async () => {
  const server = await testServer();
  await server.record({ sessionId: 's1', agentId: 'a' }, { sessionId: 's1', agentId: 'b' });
  await server.record({ sessionId: 's2', agentId: 'b', sourceTimestamp: '2026-11-20T10:00:00Z' });
  const { items } = await server.ok('agents.sessions', { id: 'b' });
  expect(items.map(({ id }) => id)).toEqual(['s1', 's2']);
  expect(items[0]?.agentIds).toEqual(['a', 'b']);
  expect((await server.refused('agents.sessions', { id: 'nobody' })).status).toBe(404);
});

test('pages the events of a session, oldest first', async () => {
  const server = await testServer();
  const times = Array.from({ length: 7 }, (_, index) => `2026-11-20T10:00:0${index % 4}Z`);
  await server.record(...times.map((sourceTimestamp) => ({ sourceTimestamp })));
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const query = { limit: 2, ...(cursor !== undefined && { cursor }) };
    const page = await server.ok('sessions.get', { id: 'thread-1', query });
    seen.push(...page.events.map(({ sourceTimestamp }) => sourceTimestamp));
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  expect(seen).toEqual([...times].sort());
});

test('ends a page of large items early, and continues after it', async () => {
  const server = await testServer();
  const text = 'x'.repeat(250_000);
  await server.policy({ effect: 'require_approval' });
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) {
    await server.record({ category: 'note', payload: { text } });
    await server.ok('agents.create', { body: { id: name, name, metadata: { text } } });
  }
  // A held action has at most 64 KiB, so a page ends after more of them.
  for (let number = 1; number <= 20; number += 1) {
    const action = {
      toolName: `tool-${number}`,
      argumentsHash: 'sha256:aa',
      arguments: { text: 'x'.repeat(60_000) },
    };
    await server.check({ sessionId: 'thread-2', action });
  }
  const thread = { id: 'thread-1', query: { limit: 200 } };
  const first = await server.ok('sessions.get', thread);
  const cursor = first.nextCursor as string;
  const second = await server.ok('sessions.get', { ...thread, query: { limit: 200, cursor } });
  expect([first.events.length, second.events.length, second.nextCursor]).toEqual([4, 2, null]);
  expect(new Set([...first.events, ...second.events].map(({ eventId }) => eventId)).size).toBe(6);
  expect((await server.ok('sessions.export', { id: 'thread-1' })).events).toHaveLength(6);
  expect((await server.ok('agents.list', { query: { limit: 200 } })).items).toHaveLength(4);
  expect(await pages(server, 'agents.list', { limit: 5, registered: 'true' })).toHaveLength(6);
  expect((await server.ok('guardian.pendingActions.list')).items).toHaveLength(17);
  expect(await pages(server, 'guardian.pendingActions.list', {})).toHaveLength(20);
});

test('ends a page of large policies early, and continues after it', async () => {
  const server = await testServer();
  const names = Array.from({ length: 100 }, (_, index) => `${index}-`.padEnd(200, 'x'));
  const match = { agents: names, tools: names, frameworks: names, environments: names };
  for (let number = 0; number < 15; number += 1) await server.policy({ match });
  expect((await server.ok('policies.list', { query: { limit: 200 } })).items).toHaveLength(12);
  expect(new Set(await pages(server, 'policies.list', { limit: 200 })).size).toBe(15);
});

test('filters the list of agents', async () => {
  const server = await testServer();
  await server.record({ agentId: 'seen' });
  await server.ok('agents.create', { body: { id: 'known', name: 'Known' } });
  await server.ok('agents.create', { body: { id: 'gone', name: 'Gone' } });
  await server.ok('agents.update', { id: 'gone', body: { status: 'revoked' } });
  const list = (query: Record<string, string>) => pages(server, 'agents.list', query);
  expect((await list({})).sort()).toEqual(['gone', 'known', 'seen']);
  expect(await list({ registered: 'false' })).toEqual(['seen']);
  expect(await list({ status: 'revoked' })).toEqual(['gone']);
});

test('binds a cursor to its list, filters and tenant, for a day', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { server } = await withSessions(4);
  await server.server.admin.tenants.create('rival');
  const rival = server.as((await server.server.admin.keys.create('rival', { name: 'r' })).apiKey);
  const { nextCursor } = await server.ok('sessions.list', { query: { limit: 1, agentId: 'agent-0' } });
  const cursor = nextCursor as string;
  await server.ok('sessions.list', { query: { limit: 2, agentId: 'agent-0', cursor } });
  const flipped = cursor.slice(0, 30) + (cursor[30] === 'A' ? 'B' : 'A') + cursor.slice(31);
  const refused = [
    server.refused('sessions.list', { query: { cursor } }),
    server.refused('sessions.list', { query: { cursor, agentId: 'agent-1' } }),
    server.refused('agents.list', { query: { cursor } }),
    server.refused('sessions.get', { id: 'thread-0', query: { cursor } }),
    rival.refused('sessions.list', { query: { cursor, agentId: 'agent-0' } }),
    server.refused('sessions.list', { query: { cursor: flipped, agentId: 'agent-0' } }),
    server.refused('sessions.list', { query: { cursor: `${cursor}=`, agentId: 'agent-0' } }),
    server.refused('sessions.list', { query: { cursor: 'null', agentId: 'agent-0' } }),
  ];
  for (const error of await Promise.all(refused)) {
    expect(error).toMatchObject({
      status: 400,
      code: 'VALIDATION_ERROR',
      details: [{ path: 'query.cursor' }],
    });
  }
  vi.setSystemTime(Date.now() + 25 * 3_600_000);
  const late = await server.refused('sessions.list', { query: { cursor, agentId: 'agent-0' } });
  expect(late.message).toContain('expired');
});

test('refuses a query with a repeated field', async () => {
  const server = await testServer();
  const response = await fetch(`${server.server.url}/v1/sessions?limit=1&limit=2`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const { error } = (await response.json()) as { error: { message: string } };
  expect(error.message).toBe('query.limit: is given more than once; give it once.');
});

test.each([
  ['sessions.list', { limit: '' }],
  ['sessions.list', { limit: '0' }],
  ['sessions.list', { limit: '201' }],
  ['sessions.list', { limit: '1000000' }],
  ['sessions.list', { cursor: '' }],
  ['sessions.list', { agentId: '' }],
  ['sessions.list', { startedAfter: '' }],
  ['sessions.list', { startedAfter: 'yesterday' }],
  ['sessions.list', { minRiskScore: '101' }],
  ['sessions.list', { offset: '1' }],
  ['agents.list', { registered: '1' }],
  ['agents.list', { status: '' }],
  ['policies.list', { status: 'pending' }],
  ['guardian.pendingActions.list', { status: 'all' }],
] as const)('%s refuses the query %j', async (name, query) => {
  const server = await testServer();
  const error = await server.refused(name, { query });
  expect(error).toMatchObject({ status: 400, code: 'VALIDATION_ERROR' });
  expect(error.details[0]?.path).toBe(`query.${Object.keys(query)[0]}`);
});
