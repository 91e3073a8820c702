import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { sentTo } from './audit-entries.ts';
import { mailboxTools } from './mailbox-tools.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

afterEach(() => {
  vi.useRealTimers();
});

function call(toolName: string, second: number, fields: object = {}) {
  const sourceTimestamp = new Date(Date.UTC(2026, 10, 20, 9, 0, second)).toISOString();
  return activityEvent({
    sourceTimestamp,
    payload: { toolName, argumentsHash: `sha256:${second}`, responseStatus: 200 },
    ...fields,
  });
}

/** Reads a web page, then secrets, and sends them away: risky for the engine. */
const exfiltration = ['fetch_web_page', 'read_private_file', 'get_credentials', 'send_email', 'delete_user'];

async function risky(server: TestServer): Promise<void> {
  await server.record(...exfiltration.map((toolName, second) => call(toolName, second)));
}

test('scores a risky session above a harmless one, with reasons, and lists it at once', async () => {
  const server = await testServer();
  await risky(server);
  await server.record(call('list_files', 1, { sessionId: 'harmless' }));
  const risk = await server.ok('sessions.risk', { id: 'thread-1' });
  const harmless = await server.ok('sessions.risk', { id: 'harmless' });
  expect(risk.score).toBeGreaterThan(harmless.score);
  expect(risk.dimensions.map(({ id }) => id)).toHaveLength(10);
  expect(risk.factors.length).toBeGreaterThan(0);
  expect(risk.eventCount).toBe(5);
  expect(JSON.stringify(risk)).not.toContain('sha256:');
  const { items } = await server.ok('sessions.list');
  const listed = new Map(items.map((item) => [item.id, item.risk]));
  expect(listed.get('thread-1')).toEqual({ score: risk.score, level: risk.level });
  expect(listed.get('harmless')).toEqual({ score: harmless.score, level: harmless.level });
  const above = await server.ok('sessions.list', { query: { minRiskScore: risk.score } });
  expect(above.items.map(({ id }) => id)).toEqual(['thread-1']);
});

test('lists the risk of events that another server on the same file has just stored', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-risk-'));
  const options = { database: join(folder, 'a.db') };
  const [one, two] = [await testServer(options), await testServer(options)];
  await two.ok('events.create', { body: call('list_files', 1) });
  const { items } = await one.as(two.apiKey).ok('sessions.list');
  expect(items).toMatchObject([{ risk: { level: 'low' } }]);
  await one.server.close();
  await two.server.close();
  rmSync(folder, { recursive: true });
});

test('scores independently of the order and concurrency of events', async () => {
  const one = await testServer();
  const other = await testServer();
  const events = exfiltration.map((toolName, second) => call(toolName, second));
  await one.record(...events);
  await Promise.all(events.reverse().map((body) => other.ok('events.create', { body })));
  const strip = ({ computedAt: _, ...risk }: { computedAt: string }) => risk;
  expect(strip(await other.ok('sessions.risk', { id: 'thread-1' }))).toEqual(
    strip(await one.ok('sessions.risk', { id: 'thread-1' })),
  );
});

test('scores a burst of events before its risk is read', async () => {
  const server = await testServer();
  await Promise.all(
    Array.from({ length: 120 }, (_, index) =>
      server.ok('events.create', { body: call('send_email', index, { sessionId: `s-${index % 4}` }) }),
    ),
  );
  for (const id of ['s-0', 's-1', 's-2', 's-3']) {
    expect((await server.ok('sessions.risk', { id })).eventCount).toBe(30);
    const session = await server.ok('sessions.get', { id });
    expect(session.risk).not.toBeNull();
  }
});

test('does not observe a repeated event twice', async () => {
  const server = await testServer();
  const event = call('send_email', 1);
  await server.record(event, event, event);
  expect((await server.ok('sessions.risk', { id: 'thread-1' })).eventCount).toBe(1);
});

test('notifies webhooks of a risen risk', async () => {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  const server = await testServer({ webhookAllowedRanges: ['127.0.0.0/8'] });
  const body = { url, events: ['session.risk_raised'] };
  const { id } = await server.ok('notificationChannels.create', { body });
  await sentTo(server, 'POST', `/server/v1/webhooks/${id}/risk-level`, { riskLevel: 'medium' });
  await risky(server);
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ type: 'session.risk_raised', data: { sessionId: 'thread-1' } });
  expect(message?.body.data.level).not.toBe('low');
  await receiver.close();
});

test('keeps the baseline of a session, and starts later ones with the learned baseline', async () => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
  const server = await testServer({});
  const quiet = (sessionId: string) => [1, 2, 3].map((second) => call('list_files', second, { sessionId }));
  await server.record(...quiet('old'));
  const before = await server.ok('sessions.risk', { id: 'old' });
  vi.setSystemTime(Date.now() + 31 * 60_000);
  await vi.advanceTimersByTimeAsync(60_000);
  await server.record(...quiet('new'), call('delete_user', 9, { sessionId: 'new' }));
  const after = await server.ok('sessions.risk', { id: 'old' });
  expect({ ...after, computedAt: '' }).toEqual({ ...before, computedAt: '' });
  const fresh = await server.ok('sessions.risk', { id: 'new' });
  const rules = fresh.dimensions.flatMap(({ factors }) => factors.map(({ ruleId }) => ruleId));
  expect(rules.length).toBeGreaterThan(0);
});

test('gives an agent a baseline once a person confirms its sessions above low', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const server = await testServer();
  const { admin } = server.server;
  const work = async (sessionId: string) => {
    await server.record(...mailboxTools.map((toolName, second) => call(toolName, second, { sessionId })));
    return server.ok('sessions.risk', { id: sessionId });
  };
  const first = await work('first');
  expect(first.level).toBe('medium');
  await work('second');
  await work('third');
  await expect(admin.sessions.learn(server.tenant, 'first')).rejects.toThrow('has not ended');
  await expect(admin.sessions.learn(server.tenant, 'none')).rejects.toThrow('has no session "none"');
  vi.setSystemTime(Date.now() + 31 * 60_000);
  for (const id of ['first', 'first', 'second', 'third']) {
    expect(await admin.sessions.learn(server.tenant, id)).toBe(true);
  }
  const later = await work('later');
  expect(later.level).toBe('low');
  expect(later.score).toBeLessThan(first.score - 10);
  const { computedAt: _, ...unchanged } = await server.ok('sessions.risk', { id: 'first' });
  expect(first).toMatchObject(unchanged);
});

test.each(['sessions.risk', 'sessions.export', 'sessions.get'] as const)(
  '%s of an unknown session is not found',
  async (name) => {
    const server = await testServer();
    expect(await server.refused(name, { id: 'nobody' })).toMatchObject({ status: 404, code: 'NOT_FOUND' });
  },
);

test('scores an agent that obeys a denial, and records it as refused, lower than one that does not', async () => {
  const server = await testServer();
  await server.ok('agents.create', { body: { id: 'billing-agent', name: 'Billing' } });
  const { id } = await server.policy({ match: { tools: ['refund'] } });
  expect((await server.check({ sessionId: 'thread-1' })).decidedBy).toBe(id);
  const callWithStatus = (responseStatus: number) =>
    activityEvent({ payload: { toolName: 'refund', argumentsHash: 'sha256:aa', responseStatus } });
  await server.record(callWithStatus(403));
  const obeyed = await server.ok('sessions.risk', { id: 'thread-1' });
  expect(obeyed).toMatchObject({ score: 0, level: 'low', eventCount: 2, factors: [] });
  expect(obeyed.dimensions.find((dimension) => dimension.id === 'ASI10')?.observable).toBe(true);
  await server.record(callWithStatus(200));
  const done = await server.ok('sessions.risk', { id: 'thread-1' });
  expect(done.level).toBe('critical');
  expect(done.factors[0]?.ruleId).toBe('rogue.denied-then-done');
});

test('scores an agent that waits for a rate lower than one that does not', async () => {
  const server = await testServer();
  await server.ok('agents.create', { body: { id: 'billing-agent', name: 'Billing' } });
  const rate = { max: 1, windowSeconds: 60, per: 'session' } as const;
  await server.policy({ match: { tools: ['refund'] }, rate });
  vi.useFakeTimers({ toFake: ['Date'] });
  for (const decision of ['allow', 'deny', 'allow']) {
    expect((await server.check()).decision).toBe(decision);
    if (decision === 'allow') await server.record(activityEvent());
    vi.setSystemTime(Date.now() + (decision === 'deny' ? 62_000 : 1000));
  }
  const { events } = await server.ok('sessions.get', { id: 'thread-1' });
  expect(events.map(({ payload }) => payload.rate)).toEqual([undefined, rate, undefined]);
  expect(await server.ok('sessions.risk', { id: 'thread-1' })).toMatchObject({ score: 0, eventCount: 3 });
});
