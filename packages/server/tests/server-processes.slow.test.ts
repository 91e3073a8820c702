import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { sentTo } from './audit-entries.ts';
import { ChildServer } from './child-server.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'actlog-survival-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
});

afterEach(() => {
  vi.useRealTimers();
});

test('scores the events of a killed server in the one beside it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  const options = { database: join(folder, 'a.db'), webhookAllowedRanges: ['127.0.0.0/8'] };
  const beside = await testServer(options);
  const body = { url, events: ['session.risk_raised'] };
  const { id } = await beside.ok('notificationChannels.create', { body });
  await sentTo(beside, 'POST', `/server/v1/webhooks/${id}/risk-level`, { riskLevel: 'medium' });
  const child = await ChildServer.start({ ...options, docs: false });
  const taken = new TestServer({ ...beside.server, url: child.url }, beside.apiKey);
  for (const toolName of ['fetch_web_page', 'get_credentials', 'send_email', 'delete_user']) {
    await taken.record(
      activityEvent({ payload: { toolName, argumentsHash: 'sha256:0', responseStatus: 200 } }),
    );
  }
  await child.kill();
  await vi.advanceTimersByTimeAsync(60_000);
  const [message] = await receiver.received(1);
  expect(message?.body).toMatchObject({ type: 'session.risk_raised', data: { sessionId: 'thread-1' } });
  await receiver.close();
  await beside.server.close();
});

test('agrees on tables and secret when servers start concurrently on a new file', async () => {
  const database = join(folder, 'a.db');
  const servers = await Promise.all(Array.from({ length: 4 }, () => testServer({ database })));
  await Promise.all(servers.map((server, index) => server.record({ sessionId: `s-${index}` })));
  const [first, second] = servers as [(typeof servers)[0], (typeof servers)[0]];
  const page = await first.ok('sessions.list', { query: { limit: 3 } });
  expect(page.items).toHaveLength(3);
  const rest = await second.ok('sessions.list', { query: { limit: 3, cursor: page.nextCursor as string } });
  expect(rest.items).toHaveLength(1);
});

test('decides an action once in two processes on one file, and notifies the waiting one', async () => {
  const database = join(folder, 'a.db');
  const [one, two] = [await testServer({ database }), await testServer({ database })];
  await one.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await one.check({ actionId: 'a' });
  const waiting = one.check({ actionId: 'a' }, { prefer: 'wait=20' });
  await two.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  expect((await waiting).decision).toBe('allow');
  const late = await one.send('guardian.pendingActions.decide', {
    id: id as string,
    body: { decision: 'deny' },
  });
  expect(late.status).toBe(409);
});
