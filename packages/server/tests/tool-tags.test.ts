import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { emptySession, observe, serializeSession, type ToolTag, tagBits } from '@actlog/risk';
import { expect, test } from 'vitest';
import type { ToolTagChanges } from '../src/index.ts';
import { openStorage } from '../src/open-storage.ts';
import { storedRiskEvent } from '../src/risk/risk-scoring.ts';
import { withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { activityEvent, type TestServer, testServer } from './test-server.ts';

/** Tools with meaningless names, and their actual tags. */
const corrections: Record<string, ToolTag[]> = {
  zorp: ['ingest_untrusted'],
  blim: ['read_private', 'credential'],
  quax: ['external_comm'],
};

async function callEach(server: TestServer, sessionId: string, from = 0): Promise<void> {
  const events = Object.keys(corrections).map((toolName, index) =>
    activityEvent({
      sessionId,
      eventId: `00000000-0000-7000-8000-${String(from + index).padStart(12, '0')}`,
      sourceTimestamp: new Date(Date.UTC(2026, 10, 20, 9, 0, from + index)).toISOString(),
      payload: { toolName, argumentsHash: `sha256:${from + index}`, responseStatus: 200 },
    }),
  );
  await server.record(...events);
}

async function riskOf(server: TestServer, id: string): Promise<object> {
  const { computedAt: _, ...risk } = await server.ok('sessions.risk', { id });
  return risk;
}

test('applies corrected tags to sessions that begin later only', async () => {
  const server = await testServer();
  const control = await testServer();
  await callEach(server, 'begun');
  await callEach(control, 'begun');
  await server.ok('sessions.risk', { id: 'begun' });
  expect(await server.server.admin.toolTags.set(server.tenant, corrections)).toEqual(corrections);
  await callEach(server, 'begun', 10);
  await callEach(control, 'begun', 10);
  expect(await riskOf(server, 'begun')).toEqual(await riskOf(control, 'begun'));
  await callEach(server, 'later', 20);
  await callEach(control, 'later', 20);
  const [corrected, uncorrected] = [await riskOf(server, 'later'), await riskOf(control, 'later')];
  expect(corrected).not.toEqual(uncorrected);
  expect((corrected as { score: number }).score).toBeGreaterThan((uncorrected as { score: number }).score);
});

test('scores the same when all events are observed again, also after a restart', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-tags-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ database: join(folder, 'tags.db') });
  const first = await testServer(options);
  await first.server.admin.toolTags.set(first.tenant, corrections);
  await callEach(first, 'kept');
  await first.ok('sessions.risk', { id: 'kept' });
  await first.server.admin.toolTags.set(first.tenant, { zorp: ['payment'], blim: null });
  await first.server.close();
  const second = await testServer(options);
  await callEach(second, 'kept', 10);
  await second.ok('sessions.risk', { id: 'kept' });
  await second.server.close();

  const storage = await openStorage({ database: options.database as string, connections: 1 });
  atTestEnd(() => storage.close());
  const { events, risk } = await storage.read(1, async (db) => ({
    events: await db.selectFrom('events').selectAll().where('session_id', '=', 'kept').execute(),
    risk: await db.selectFrom('session_risk').selectAll().where('session_id', '=', 'kept').execute(),
  }));
  expect(events).toHaveLength(6);
  const tags = new Map(Object.entries(corrections).map(([tool, names]) => [tool, tagBits(...names)]));
  const state = emptySession();
  for (const row of events) observe(state, storedRiskEvent(row), { stamp: row.stamp, tags });
  expect(risk).toMatchObject([{ state: serializeSession(state), tags_version: 1 }]);
});

test('leaves other tools unchanged, and restores the classification by name with null', async () => {
  const {
    server: { admin },
    tenant,
  } = await testServer();
  await admin.toolTags.set(tenant, { b: ['write', 'read_private', 'write'], a: [] });
  expect(await admin.toolTags.list(tenant)).toEqual({ a: [], b: ['read_private', 'write'] });
  expect(await admin.toolTags.set(tenant, { a: null, c: ['exec'] })).toEqual({
    b: ['read_private', 'write'],
    c: ['exec'],
  });
  await admin.tenants.create('rival');
  expect(await admin.toolTags.list('rival')).toEqual({});
});

test('keeps all of several concurrent corrections', async () => {
  const {
    server: { admin },
    tenant,
  } = await testServer();
  const tools = Array.from({ length: 8 }, (_, index) => `tool-${index}`);
  await Promise.all(tools.map((tool) => admin.toolTags.set(tenant, { [tool]: ['exec'] })));
  expect(Object.keys(await admin.toolTags.list(tenant))).toEqual(tools);
});

const tooMany = Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`t${index}`, []]));

test.each<[unknown, string]>([
  [{ search: ['reads'] }, '"search" cannot have the tag "reads"; the tags are: read_private,'],
  [{ search: 'exec' }, 'must be an array'],
  [{ search: ['unknown', 'exec'] }, '"unknown" together with others'],
  [{ '': ['exec'] }, 'is not the name of a tool'],
  [{ ['x'.repeat(201)]: ['exec'] }, 'is not the name of a tool'],
  [tooMany, '1001 tools would have corrected tags, and the maximum is 1000'],
])('refuses invalid tags with a reason, and changes nothing (%#)', async (changes, reason) => {
  const {
    server: { admin },
    tenant,
  } = await testServer();
  await expect(admin.toolTags.set(tenant, changes as ToolTagChanges)).rejects.toThrow(reason);
  expect(await admin.toolTags.list(tenant)).toEqual({});
  await expect(admin.toolTags.set('nobody', {})).rejects.toThrow('There is no tenant "nobody"');
});
