import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { mailboxTools } from '../mailbox-tools.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { addChannel, route } from './channel-tools.ts';
import { LoopbackMail } from './loopback-mail.ts';

const minuteMs = 60_000;

let mail: LoopbackMail;
let server: TestServer;

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-27T12:00:00Z') });
  mail = await LoopbackMail.start();
  server = await testServer({ ...mail.settings, publicUrl: 'https://actlog.example.com' });
});

afterEach(() => {
  vi.useRealTimers();
});

function mailTo(name: string, rules: object = {}): Promise<string> {
  return addChannel(server, { kind: 'mail', name, settings: { to: [`${name}@example.com`] }, rules });
}

async function rule(fields: object): Promise<string> {
  const { status, body } = await route(server, 'POST', '/alert-rules', { name: 'Watch', ...fields });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body.id;
}

function call(fields: { agentId?: string; sessionId?: string; toolName?: string; status?: number } = {}) {
  const { agentId = 'billing', sessionId = 'thread-1', toolName = 'refund', status = 200 } = fields;
  return server.record({
    agentId,
    sessionId,
    payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: status },
  });
}

/** Returns the subjects of the mails when there are `count`. */
async function subjects(count: number): Promise<string[]> {
  const mails = await mail.received(count);
  return mails.map(({ source }) => /^Subject: (.*)/m.exec(source)?.[1]?.trim() ?? '');
}

/** Waits until all that was recorded so far was looked at: a rule about a marker tool alerts after it. */
async function lookedAt(already: number): Promise<string[]> {
  vi.setSystemTime(Date.now() + 2 * minuteMs);
  await call({ agentId: 'marker', toolName: 'marker', status: 500, sessionId: 'marker' });
  return subjects(already + 1);
}

test('alerts once for many failures of one cause, with their count later', async () => {
  await mailTo('team');
  await rule({ kind: 'error', count: 3, windowMinutes: 30, tools: ['refund'] });
  await rule({ name: 'Marker', kind: 'error', tools: ['marker'], windowMinutes: 1 });
  await call({ status: 500 });
  await call({ status: 404 });
  expect(await lookedAt(0)).toEqual(['Marker: failed: marker of marker']);
  await call({ status: 500 });
  expect((await subjects(2))[1]).toBe('Watch: failed: refund of billing');
  for (let index = 0; index < 5; index += 1) await call({ status: 500 });
  expect((await lookedAt(2)).at(-1)).toBe('Marker: failed: marker of marker');
  vi.setSystemTime(Date.now() + 31 * minuteMs);
  for (let index = 0; index < 3; index += 1) await call({ status: 500 });
  await subjects(4);
  expect(mail.mails[3]?.source).toContain('8 times since the last message.');
});

test('alerts about denied calls, and not about allowed ones', async () => {
  await mailTo('team');
  await rule({ kind: 'denied' });
  await server.policy({ effect: 'deny', match: { tools: ['drop*'] } });
  await server.check({ actionId: 'call-1' });
  await server.check({ actionId: 'call-2', action: { toolName: 'drop_table', argumentsHash: 'sha256:aa' } });
  expect(await subjects(1)).toEqual(['Watch: denied: drop_table of billing-agent']);
  expect(mail.mails[0]?.source).toContain('https://actlog.example.com/console/#/sessions/thread-1');
});

test('alerts about the first call of a tool by an agent, and not about those before the rule', async () => {
  await call({ toolName: 'known' });
  vi.setSystemTime(Date.now() + minuteMs);
  await mailTo('team');
  await rule({ kind: 'new_tool', agents: ['billing'] });
  await rule({ name: 'Marker', kind: 'error', tools: ['marker'] });
  await call({ toolName: 'known', sessionId: 'thread-2' });
  await call({ toolName: 'transfer', sessionId: 'thread-2' });
  vi.setSystemTime(Date.now() + minuteMs);
  await call({ toolName: 'transfer', sessionId: 'thread-3' });
  await call({ toolName: 'transfer', sessionId: 'thread-3', agentId: 'support' });
  await subjects(1);
  expect((await lookedAt(1)).sort()).toEqual([
    'Marker: failed: marker of marker',
    'Watch: first call of transfer of billing',
  ]);
});

test('alerts about sessions that reach a level of risk, once for each level', async () => {
  await mailTo('team');
  await rule({ kind: 'risk', level: 'medium' });
  for (const toolName of mailboxTools) {
    // Calls of the same millisecond have no order, and the score depends on it.
    vi.setSystemTime(Date.now() + 1000);
    await call({ toolName, sessionId: 'risky' });
  }
  expect((await subjects(1))[0]).toMatch(
    /^Watch: a session of billing has a risk of \d+ of 100 \((medium|high|critical)\)$/,
  );
});

test('sends alerts to the channels of the rule, and at the end of their quiet hours', async () => {
  const quietHours = { timeZone: 'UTC', from: '11:00', to: '13:00' };
  const night = await mailTo('night', { quietHours });
  await mailTo('all');
  await rule({ kind: 'error', channels: [night] });
  await call({ status: 500 });
  const waiting = async () => {
    const { body } = await route(server, 'GET', `/channels/${night}/deliveries`);
    return body.items.map(({ nextAttemptAt }: { nextAttemptAt: string }) => nextAttemptAt);
  };
  await expect.poll(waiting, { timeout: 10_000 }).toEqual(['2026-11-27T13:00:00.000Z']);
  vi.setSystemTime(Date.parse('2026-11-27T13:00:00Z'));
  expect(await subjects(1)).toEqual(['Watch: failed: refund of billing']);
});

test('sends nothing of a muted rule, and records its changes', async () => {
  await mailTo('team');
  const id = await rule({ kind: 'error', tools: ['refund'] });
  await rule({ name: 'Marker', kind: 'error', tools: ['marker'] });
  await route(server, 'POST', `/alert-rules/${id}/mute`, { minutes: 30 });
  await call({ status: 500 });
  expect(await lookedAt(0)).toEqual(['Marker: failed: marker of marker']);
  vi.setSystemTime(Date.now() + 31 * minuteMs);
  await call({ status: 500 });
  expect((await subjects(2))[1]).toBe('Watch: failed: refund of billing');
  expect((await route(server, 'DELETE', `/alert-rules/${id}`)).status).toBe(200);
  const { body } = await route(server, 'GET', '/audit?targetKind=alert_rule');
  expect(body.items.map(({ action }: { action: string }) => action)).toEqual([
    'alert_rule.deleted',
    'alert_rule.muted',
    'alert_rule.created',
    'alert_rule.created',
  ]);
});

test('needs the log for anything but risk', async () => {
  const other = await testServer({ keepLog: false });
  const { status, body } = await route(other, 'POST', '/alert-rules', { name: 'Watch', kind: 'denied' });
  expect(status).toBe(400);
  expect(body.error.message).toContain('ACTLOG_KEEP_LOG');
});
