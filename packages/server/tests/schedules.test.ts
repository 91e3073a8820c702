import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

let server: TestServer;
beforeEach(async () => {
  server = await testServer();
});

afterEach(() => {
  vi.useRealTimers();
});

/** Sets the clock of the service, without any timer. */
function setClock(time: string): void {
  vi.useFakeTimers({ toFake: ['Date'], now: new Date(time) });
}

// Far in the future, so that keys and cursors of the test are valid. 2040-01-02 is a Monday.
const office = { timeZone: 'Europe/Berlin', days: ['mon', 'tue'], from: '09:00', to: '17:00' } as const;

test('applies a policy only within its schedule, by the clock of its time zone', async () => {
  await server.policy({ schedule: office });
  setClock('2040-01-02T07:59:00Z');
  expect((await server.check()).decision).toBe('allow');
  setClock('2040-01-02T08:00:00Z');
  expect(await server.check()).toMatchObject({
    decision: 'deny',
    matched: [{ why: expect.stringContaining('it is mon 09:00 in Europe/Berlin, within the schedule') }],
  });
  setClock('2040-01-02T16:00:00Z');
  expect((await server.check({}, { prefer: 'dry-run' })).decision).toBe('allow');
});

test('denies a held action when the schedule of a denial begins, also after an approval', async () => {
  await server.policy({ effect: 'require_approval' });
  await server.policy({ schedule: office });
  setClock('2040-01-02T07:59:00Z');
  const { pendingActionId: id } = await server.check({ actionId: 'call-1' });
  await server.ok('guardian.pendingActions.decide', { id: id as string, body: { decision: 'approve' } });
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('allow');
  setClock('2040-01-02T08:01:00Z');
  expect((await server.check({ actionId: 'call-1' })).decision).toBe('deny');
});

test('changes parts of a schedule, and removes it', async () => {
  const { id } = await server.policy({ schedule: office });
  const changed = await server.ok('policies.update', { id, body: { schedule: { days: null, to: '12:00' } } });
  expect(changed.schedule).toEqual({ timeZone: 'Europe/Berlin', from: '09:00', to: '12:00' });
  expect((await server.ok('policies.update', { id, body: { schedule: null } })).schedule).toBeNull();
});

test.each([
  [
    'an unknown time zone',
    { timeZone: 'Mars/Olympus' },
    'schedule.timeZone',
    /use a name such as Europe\/Berlin/,
  ],
  ['a time that is no time of day', { timeZone: 'UTC', from: '24:00' }, 'schedule.from', /such as 09:00/],
  ['an empty window', { timeZone: 'UTC', from: '09:00', to: '09:00' }, 'schedule.to', /leave out both/],
  ['no time zone', { days: ['mon'] }, 'schedule.timeZone', /missing/],
])('refuses a schedule with %s', async (_, schedule, path, message) => {
  const error = await server.refused('policies.create', { body: { name: 'p', effect: 'deny', schedule } });
  expect(error).toMatchObject({ status: 400, details: [{ path, message: expect.stringMatching(message) }] });
});

test('reads the principal in conditions, and keeps it with the decision', async () => {
  await server.policy({ condition: 'principal == "ada" || principal == ""' });
  expect((await server.check({ principal: 'ada' })).decision).toBe('deny');
  expect((await server.check({ principal: 'grace' })).decision).toBe('allow');
  expect((await server.check()).decision).toBe('deny');
  const response = await fetch(`${server.server.url}/server/v1/decisions`, {
    headers: { authorization: `Bearer ${server.apiKey}` },
  });
  const { items } = (await response.json()) as { items: { principal: string | null }[] };
  expect(items.map(({ principal }) => principal)).toEqual([null, 'grace', 'ada']);
});
