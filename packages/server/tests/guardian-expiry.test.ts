import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { EventRecorder } from '../src/ingest/event-recorder.ts';
import { afterNextRead, beforeNextCommit, beforeNextWrite, nextWrite } from './storage-seam.ts';
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
] as const)(
  'an action that nobody decides ends by its time, with onTimeout %s',
  async (onTimeout, decision) => {
    const server = await testServer();
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
  },
);

/** Does `work` between the end of an action and the record of it in its session. */
function beforeNextRecording(work: () => void): void {
  const { record } = EventRecorder.prototype;
  const spy = vi.spyOn(EventRecorder.prototype, 'record');
  atTestEnd(async () => spy.mockRestore());
  spy.mockImplementationOnce(function (this: EventRecorder, ...parts) {
    work();
    return record.apply(this, parts);
  });
}

test.each([
  ['its transaction', beforeNextWrite],
  ['the session of the action', beforeNextRecording],
])('a decision that waits for %s until the action is over comes too late', async (_, beforeNext) => {
  const server = await testServer();
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

/** A folder that is removed after the test. */
function testFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-expiry-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return folder;
}

const pass = () => void vi.setSystemTime(Date.now() + 60_000);

test.each([
  ['that comes then', pass],
  ['that waits', () => afterNextRead(async () => pass())],
])(
  'a check %s is not told that the time is over while a decision that came in time is committed',
  async (_, passTime) => {
    const server = await testServer({ database: join(testFolder(), 'a.db'), rateLimit: false });
    await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 60, onTimeout: 'deny' } });
    const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
    const answers: Promise<unknown>[] = [];
    beforeNextCommit(async () => {
      const asked = nextWrite();
      passTime();
      answers.push(server.check({ actionId: 'call-1' }, { prefer: 'wait=25' }));
      // What is answered before the commit is wrong; what asks for a write is answered behind it.
      await Promise.race([asked, ...answers]);
    });
    await server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
    expect(await Promise.all(answers)).toMatchObject([{ decision: 'allow', pendingActionId: id }]);
    const { items } = await server.ok('guardian.pendingActions.list', { query: { status: 'approved' } });
    expect(items).toMatchObject([{ id }]);
  },
);

test('the end of an action is written into its session once', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 1, onTimeout: 'deny' } });
  await server.check({ actionId: 'call-1' });
  await vi.advanceTimersByTimeAsync(5000);
  await vi.waitFor(async () => {
    const { events } = await server.ok('sessions.get', { id: 'thread-1' });
    expect(events.map(({ payload }) => payload.decision)).toEqual(['require_approval', 'expired']);
  });
});

test('a check that waits is answered in time, though the clock jumps back', { timeout: 10_000 }, async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  // After the first look of the check, before it waits.
  afterNextRead(async () => void vi.setSystemTime(Date.now() - 2 * 24 * 3_600_000));
  const answer = await server.check({ actionId: 'call-1' }, { prefer: 'wait=1' });
  expect(answer).toMatchObject({ decision: 'require_approval', pendingActionId: id });
});

test('what was counted before a clock is set back does not use up a rate until then', async () => {
  const server = await testServer();
  await server.policy({ rate: { max: 1, windowSeconds: 60, per: 'agent' } });
  const nowMs = Date.now();
  vi.setSystemTime(nowMs + 2 * 3_600_000);
  const decisions = [(await server.check()).decision, (await server.check()).decision];
  vi.setSystemTime(nowMs);
  decisions.push((await server.check()).decision, (await server.check()).decision);
  expect(decisions).toEqual(['allow', 'deny', 'allow', 'deny']);
});

test('a clock that jumps back neither locks a key out nor revives what has ended', async () => {
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
