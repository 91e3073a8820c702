import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { testSecret } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { addChannel, route } from './channel-tools.ts';
import { LoopbackMail } from './loopback-mail.ts';

const minuteMs = 60_000;
const apiKey = newApiKey('test');

let mail: LoopbackMail;
let settings: Parameters<typeof testServer>[0];
let server: TestServer;

beforeEach(async () => {
  // A Friday, at noon.
  vi.useFakeTimers({ toFake: ['Date'], now: Date.parse('2026-11-27T12:00:00Z') });
  mail = await LoopbackMail.start();
  const folder = mkdtempSync(join(tmpdir(), 'actlog-channels-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const publicUrl = 'https://actlog.example.com';
  settings = { ...mail.settings, publicUrl, database: join(folder, 'data.db'), secret: testSecret, apiKey };
  server = await testServer(settings);
});

afterEach(() => {
  vi.useRealTimers();
});

function pass(minutes: number): void {
  vi.setSystemTime(Date.now() + minutes * minuteMs);
}

function mailTo(name: string, rules: object = {}): Promise<string> {
  return addChannel(server, {
    kind: 'mail',
    name,
    settings: { to: [`${name}@example.com`] },
    rules: { remindMinutes: null, ...rules },
  });
}

async function hold(approval: object = {}, fields: object = {}): Promise<string> {
  const rules = { timeoutSeconds: 3600, onTimeout: 'deny', ...approval } as const;
  await server.policy({ name: 'Refunds', effect: 'require_approval', approval: rules });
  return (await server.check({ actionId: 'call-1', ...fields })).pendingActionId as string;
}

function decide(id: string, decision: 'approve' | 'deny' = 'approve'): Promise<unknown> {
  return server.ok('guardian.pendingActions.decide', { id, body: { decision } });
}

/** Returns the receivers of the next mails and their subjects, after a test message to a last channel. */
async function receivers(count: number): Promise<string[]> {
  const mails = await mail.received(count);
  return mails.map(({ to, source }) => `${to} ${/^Subject: (\w+)/m.exec(source)?.[1]}`);
}

/** Returns the messages that wait for a channel, with the minutes until they are due. */
async function waiting(id: string): Promise<[string, number][]> {
  const { body } = await route(server, 'GET', `/channels/${id}/deliveries?status=waiting`);
  return body.items.map(({ eventType, nextAttemptAt }: { eventType: string; nextAttemptAt: string }) => [
    eventType,
    (Date.parse(nextAttemptAt) - Date.now()) / minuteMs,
  ]);
}

test('asks the next channel when nobody has decided for some minutes, also after a restart', async () => {
  await mailTo('team');
  await mailTo('lead', { afterMinutes: 10 });
  await hold();
  expect(await receivers(1)).toEqual(['team@example.com Held']);
  await server.server.close();
  pass(9);
  server = await testServer(settings);
  pass(1);
  expect(await receivers(2)).toEqual(['team@example.com Held', 'lead@example.com Nobody']);
});

test('asks no further channel once the action is decided', async () => {
  await mailTo('team');
  const lead = await mailTo('lead', { afterMinutes: 10, remindMinutes: 5 });
  const id = await hold();
  await receivers(1);
  expect(await waiting(lead)).toEqual([
    ['approval.reminder', 55],
    ['approval.held', 10],
  ]);
  await decide(id);
  expect(await waiting(lead)).toEqual([]);
});

test('reminds once before the expiry', async () => {
  const team = await mailTo('team', { remindMinutes: 5 });
  await hold();
  await receivers(1);
  pass(55);
  expect(await receivers(2)).toEqual(['team@example.com Held', 'team@example.com Expires']);
  await expect.poll(() => waiting(team)).toEqual([]);
});

test('reminds nobody of an action that ends before the reminder is due', async () => {
  const team = await mailTo('team', { remindMinutes: 5 });
  await hold({ timeoutSeconds: 240 });
  await receivers(1);
  await expect.poll(() => waiting(team)).toEqual([]);
});

test('sends a message once, also with several servers', async () => {
  const two = await testServer(settings);
  await mailTo('team');
  await server.policy({ effect: 'require_approval' });
  for (let index = 0; index < 20; index += 1) {
    const action = { toolName: 'refund', argumentsHash: `sha256:${index}` };
    await (index % 2 === 0 ? server : two).check({ actionId: `held-${index}`, action });
  }
  await mail.received(20);
  await mailTo('last');
  const { body } = await route(server, 'GET', '/channels');
  const last = body.items.find(({ name }: { name: string }) => name === 'last');
  await route(server, 'POST', `/channels/${last.id}/test`, {});
  await mail.received(21);
  expect(mail.mails.filter(({ to }) => to[0] === 'team@example.com')).toHaveLength(20);
});

test('asks the channels of the groups that may approve', async () => {
  await mailTo('security', { groups: ['security'] });
  await mailTo('sales', { groups: ['sales'] });
  await mailTo('all');
  await hold({ approverGroups: ['security'] });
  expect(await receivers(1)).toEqual(['security@example.com Held']);
  await route(server, 'POST', `/channels/${(await channels()).sales}/test`, {});
  expect(await receivers(2)).toEqual(['security@example.com Held', 'sales@example.com actlog']);
});

test('asks every channel if none reaches the groups that may approve', async () => {
  await mailTo('sales', { groups: ['sales'] });
  await hold({ approverGroups: ['security'] });
  expect(await receivers(1)).toEqual(['sales@example.com Held']);
});

async function channels(): Promise<Record<string, string>> {
  const { body } = await route(server, 'GET', '/channels');
  return Object.fromEntries(body.items.map(({ id, name }: { id: string; name: string }) => [name, id]));
}

test.each<[string, object, boolean]>([
  ['an agent', { agents: ['billing*'] }, true],
  ['another agent', { agents: ['support*'] }, false],
  ['an agent around the agent', { agents: ['triage'] }, true],
  ['a tool', { tools: ['re*d'] }, true],
  ['another tool', { tools: ['refund_all'] }, false],
  ['a policy by its name', { policies: ['Refunds'] }, true],
  ['another policy', { policies: ['Transfers'] }, false],
])('matches %s', async (_, rules, isAsked) => {
  const id = await mailTo('team', rules);
  await hold({}, { parentAgentIds: ['triage'] });
  const { body } = await route(server, 'GET', `/channels/${id}/deliveries`);
  expect(body.items).toHaveLength(isAsked ? 1 : 0);
});

describe('in quiet hours', () => {
  const quietHours = { timeZone: 'Europe/Berlin', from: '12:00', to: '14:30' };

  test('asks about a held action at once', async () => {
    await mailTo('team', { quietHours });
    await hold();
    expect(await receivers(1)).toEqual(['team@example.com Held']);
  });

  test('asks at their end if that is wanted', async () => {
    const team = await mailTo('team', { quietHours: { ...quietHours, delaysHeldActions: true } });
    await hold({ timeoutSeconds: 7200 });
    // It is 13:00 in Berlin.
    expect(await waiting(team)).toEqual([['approval.held', 90]]);
    pass(90);
    expect(await receivers(1)).toEqual(['team@example.com Held']);
  });

  test('tells of decisions at their end', async () => {
    const team = await mailTo('team', { events: ['decided'], quietHours });
    await decide(await hold());
    expect(await waiting(team)).toEqual([['approval.decided', 90]]);
    pass(90);
    expect(await receivers(1)).toEqual(['team@example.com Decided']);
  });
});

test('sends nothing to a muted channel, and sends again when the time is over', async () => {
  const team = await mailTo('team');
  const muted = await route(server, 'POST', `/channels/${team}/mute`, { minutes: 30 });
  expect(muted.body.mutedUntil).toBe('2026-11-27T12:30:00.000Z');
  await hold();
  await expect.poll(() => waiting(team)).toEqual([]);
  pass(31);
  await server.check({ actionId: 'call-2', action: { toolName: 'refund', argumentsHash: 'sha256:bb' } });
  await mail.received(1);
  expect(mail.mails).toHaveLength(1);
  expect((await route(server, 'GET', `/channels/${team}`)).body.mutedUntil).toBeNull();
});

test.each([
  [{ quietHours: { timeZone: 'Mars', from: '22:00', to: '07:00' } }, 'quietHours.timeZone'],
  [{ quietHours: { timeZone: 'Europe/Berlin', from: '22:00', to: '22:00' } }, 'quietHours'],
  [{ events: ['everything'] }, 'events'],
  [{ afterMinutes: -1 }, 'afterMinutes'],
])('refuses the rules %j', async (rules, field) => {
  const channel = { kind: 'mail', name: 'team', settings: { to: ['team@example.com'] }, rules };
  const { status, body } = await route(server, 'POST', '/channels', channel);
  expect(status).toBe(400);
  expect(body.error.details[0].path).toContain(field);
});
