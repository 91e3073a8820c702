import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventWriter } from '../src/ingest/event-writer.ts';
import {
  afterNextRead,
  beforeNextCommit,
  beforeNextWrite,
  nextQueuedWork,
  nextWrite,
} from './storage-seam.ts';
import { atTestEnd } from './test-end.ts';
import { testServer } from './test-server.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'setInterval', 'clearInterval'] });
});

afterEach(() => {
  vi.useRealTimers();
});

test.each([
  ['deny', 'deny'],
  ['allow', 'allow'],
] as const)('expires an undecided action with onTimeout %s', async (onTimeout, decision) => {
  const server = await testServer({});
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 60, onTimeout } });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  vi.setSystemTime(Date.now() + 60_000);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe(decision);
  const late = await server.refused('guardian.pendingActions.decide', {
    id: id as string,
    body: { decision: 'approve' },
  });
  expect(late).toMatchObject({ status: 409, code: 'ACTION_EXPIRED' });
  expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'expired' } });
  expect(items).toMatchObject([{ id, status: 'expired', decision: null }]);
});

/** Runs `work` between the end of an action and its record in the session. */
function beforeNextRecording(work: () => void): void {
  const { write } = EventWriter.prototype;
  const spy = vi.spyOn(EventWriter.prototype, 'write');
  atTestEnd(async () => spy.mockRestore());
  spy.mockImplementationOnce(function (this: EventWriter, ...parts) {
    work();
    return write.apply(this, parts);
  });
}

test.each([
  ['its transaction', beforeNextWrite],
  ['the session of the action', beforeNextRecording],
])('refuses a decision that waits for %s until the action has expired', async (_, beforeNext) => {
  const server = await testServer({});
  await server.policy({
    effect: 'require_approval',
    approval: { timeoutSeconds: 60, onTimeout: 'deny' },
  });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  beforeNext(() => vi.setSystemTime(Date.now() + 60_000));
  const late = await server.refused('guardian.pendingActions.decide', {
    id: id as string,
    body: { decision: 'approve' },
  });
  expect(late).toMatchObject({ status: 409, code: 'ACTION_EXPIRED', details: [{ code: 'expired' }] });
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('deny');
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'expired' } });
  expect(items).toMatchObject([{ id, decision: null }]);
});

/** Creates a folder that is removed after the test. */
function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-expiry-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return folder;
}

const pass = () => void vi.setSystemTime(Date.now() + 60_000);

test.each([
  ['that comes then', pass],
  ['that waits', () => afterNextRead(async () => pass())],
])('a check %s gets a timely decision that is committed after the expiry', async (_, passTime) => {
  const server = await testServer({ database: join(testFolder(), 'a.db'), rateLimit: false });
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 60, onTimeout: 'deny' } });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  const responses: Promise<unknown>[] = [];
  const queued = nextQueuedWork();
  beforeNextCommit(async () => {
    const requested = Promise.race([queued, nextWrite()]);
    passTime();
    responses.push(server.check({ actionId: 'call-1' }, { prefer: 'wait=25' }));
    // A response before the commit would be wrong; requests that need a write respond after it.
    await Promise.race([requested, ...responses]);
  });
  await server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  expect(await Promise.all(responses)).toMatchObject([{ decision: 'allow', pendingActionId: id }]);
  const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } });
  expect(items).toMatchObject([{ id }]);
});

test('records an expiry in the session once', async () => {
  const server = await testServer({});
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 1, onTimeout: 'deny' } });
  await server.check({ actionId: 'call-1' });
  await vi.advanceTimersByTimeAsync(5000);
  await vi.waitFor(async () => {
    const { events } = await server.ok('sessions.get', { id: 'thread-1' });
    expect(events.map(({ payload }) => payload.decision)).toEqual(['require_approval', 'expired']);
  });
});

test('ends a waiting check in time although the clock jumps back', { timeout: 10_000 }, async () => {
  const server = await testServer({});
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  // After the check has first read the action, before it waits.
  afterNextRead(async () => void vi.setSystemTime(Date.now() - 2 * 24 * 3_600_000));
  const response = await server.check({ actionId: 'call-1' }, { prefer: 'wait=1' });
  expect(response).toMatchObject({ decision: 'require_approval', pendingActionId: id });
});

test('does not exhaust a rate by counts from before the clock was set back', async () => {
  const server = await testServer({});
  await server.policy({ rate: { max: 1, windowSeconds: 60, per: 'agent' } });
  const nowMs = Date.now();
  vi.setSystemTime(nowMs + 2 * 3_600_000);
  const decisions = [(await server.check()).decision, (await server.check()).decision];
  vi.setSystemTime(nowMs);
  decisions.push((await server.check()).decision, (await server.check()).decision);
  expect(decisions).toEqual(['allow', 'deny', 'allow', 'deny']);
});

test('neither locks out a key nor revives an expired action when the clock jumps back', async () => {
  const server = await testServer({ rateLimit: { requestsPerSecond: 5, burst: 50 } });
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  await server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'deny' } });
  vi.setSystemTime(Date.now() - 30 * 24 * 3_600_000);
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('deny');
  await server.record({});
  vi.setSystemTime(Date.now() + 60 * 24 * 3_600_000);
  await server.record({});
});
