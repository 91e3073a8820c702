import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { newApiKey } from '../../src/tenants/api-key.ts';
import { atTestEnd } from '../test-end.ts';
import { testServer } from '../test-server.ts';
import { idOf, TestConsole } from './test-console.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Starts two servers on one database, each with its own cache of keys. */
async function twoConsoles(): Promise<[TestConsole, TestConsole]> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-console-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = { database: join(folder, 'a.db'), apiKey: newApiKey('test') };
  return [new TestConsole(await testServer(options)), new TestConsole(await testServer(options))];
}

test('applies a change in other servers of the database within a second', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const [one, two] = await twoConsoles();
  const { key, apiKey } = await one.create({ name: 'agent' });
  await two.server.as(apiKey).ok('sessions.list');
  await one.revoke(key.id);
  vi.setSystemTime(Date.now() + 1000);
  expect((await two.server.as(apiKey).refused('sessions.list')).status).toBe(401);
});

test('creates no successor of a key that was just revoked in another server', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const [one, two] = await twoConsoles();
  const { key, apiKey } = await one.create({ name: 'stolen' });
  const thief = two.as(apiKey);
  await thief.keys();
  await one.revoke(key.id);
  // No time has passed, so the other server still has the key cached.
  await thief.keys();
  expect((await thief.refused('POST', 'keys', { name: 'mine' })).code).toBe('AUTHENTICATION_FAILED');
  expect((await thief.refused('POST', `keys/${idOf(one.server.apiKey)}/revoke`)).status).toBe(401);
  expect((await one.keys()).map(({ name }) => name).sort()).toEqual(['startServer', 'stolen']);
});

test('creates exactly one key from concurrent rotations without overlap on two servers', async () => {
  const consoles = await twoConsoles();
  for (let round = 0; round < 5; round += 1) {
    const { key } = await consoles[0].create({ name: `round ${round}` });
    const responses = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        (consoles[index % 2] as TestConsole).send('POST', `keys/${key.id}/rotate`, { overlapDays: 0 }),
      ),
    );
    expect(responses.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(400)]);
    const items = await consoles[0].keys();
    expect(items.filter(({ name }) => name === key.name)).toHaveLength(2);
  }
});

test('creates a listed key from each concurrent rotation with an overlap, and ends the old one once', async () => {
  const [one, two] = await twoConsoles();
  const old = await one.create({ name: 'agent' });
  const [first, second] = await Promise.all([one.rotate(old.key.id), two.rotate(old.key.id)]);
  for (const { apiKey } of [old, first, second]) await one.server.as(apiKey).ok('sessions.list');
  const items = await one.keys();
  expect(items.filter(({ name }) => name === 'agent').map(({ expiresAt }) => expiresAt === null)).toEqual(
    expect.arrayContaining([true, true, false]),
  );
});

test('ends the old key after a concurrent rotation and revocation, and leaves at most the new one', async () => {
  const [one, two] = await twoConsoles();
  for (let round = 0; round < 5; round += 1) {
    const old = await one.create({ name: `round ${round}` });
    const [rotated] = await Promise.all([
      two.send('POST', `keys/${old.key.id}/rotate`),
      one.revoke(old.key.id),
    ]);
    expect([201, 400]).toContain(rotated.status);
    expect((await one.server.as(old.apiKey).refused('sessions.list')).status).toBe(401);
    const left = (await one.keys()).filter(
      ({ name, expiresAt }) => name === old.key.name && expiresAt === null,
    );
    expect(left).toHaveLength(rotated.status === 201 ? 1 : 0);
  }
});
