import pg from 'pg';
import { beforeEach, expect, test } from 'vitest';
import { openStorage } from '../../src/open-storage.ts';
import type { Tables } from '../../src/storage/schema.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { CrossTenantWork } from '../../src/storage/transaction.ts';
import { asSuperuser, createDatabase } from '../test-database.ts';
import { atTestEnd } from '../test-end.ts';
import { type TestServer, testServer } from '../test-server.ts';

let url: string;
let owner: TestServer;
let storage: Storage;
let tables: string[];

/** Creates two tenants, each with rows in every commonly used table. */
beforeEach(async () => {
  url = await createDatabase();
  owner = await testServer({ database: url, secret: 's'.repeat(32), webhookAllowedRanges: ['127.0.0.0/8'] });
  await owner.server.admin.tenants.create('rival');
  const { apiKey } = await owner.server.admin.keys.create('rival', { name: 'rival' });
  for (const tenant of ['default', 'rival']) {
    await owner.server.admin.toolTags.set(tenant, { search: ['exec'] });
  }
  for (const server of [owner, owner.as(apiKey)]) {
    await server.record({});
    await server.ok('sessions.list');
    await server.ok('notificationChannels.create', { body: { url: 'http://127.0.0.1:9/' } });
    const headers = { 'idempotency-key': 'k' };
    await server.ok('policies.create', {
      body: { name: 'p', effect: 'require_approval', rate: { max: 1, windowSeconds: 60, per: 'agent' } },
      headers,
    });
    await server.policy({ effect: 'require_approval' });
    await server.check({ actionId: 'a' });
  }
  await asSuperuser(
    `insert into sign_ins select id, 'sin_1', id::text, 'usr_1', 'ada', 'viewer', null, '[]', 0, 0, 0 from tenants`,
    url,
  );
  storage = await openStorage({ database: url, connections: 2 });
  atTestEnd(() => storage.close());
  const rows = await asSuperuser<{ name: string }>(
    `select table_name as name from information_schema.columns where table_schema = 'public' and column_name = 'tenant_id'`,
    url,
  );
  tables = rows.map(({ name }) => name);
});

/** Returns the rows of a query without a condition on the tenant. */
function allRows(table: string, tenantId: number): Promise<{ tenant_id: number }[]> {
  return storage.read(
    tenantId,
    (db) =>
      db
        .selectFrom(table as keyof Tables)
        .selectAll()
        .execute() as Promise<never>,
  );
}

test('shows nothing of another tenant to a query without the condition, in any table', async () => {
  expect(tables).toContain('events');
  const seen = new Set<string>();
  for (const table of tables) {
    const [{ count } = { count: 0 }] = await asSuperuser<{ count: number }>(
      `select count(distinct tenant_id)::int as count from ${table}`,
      url,
    );
    if (count < 2) continue;
    for (const tenantId of [1, 2]) {
      const rows = await allRows(table, tenantId);
      if (/^events_/.test(table)) expect(rows).toEqual([]);
      else expect([table, ...new Set(rows.map((row) => row.tenant_id))]).toEqual([table, tenantId]);
    }
    seen.add(table);
  }
  for (const table of [
    'events',
    'event_rows',
    'sessions',
    'policies',
    'pending_actions',
    'deliveries',
    'api_keys',
    'sign_ins',
    'tool_tag_sets',
  ]) {
    expect(seen).toContain(table);
  }
});

test('shows no row to a connection without a tenant', async () => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  for (const table of tables) {
    const { rows } = await client.query(`select count(*)::int as count from ${table}`);
    expect([table, rows]).toEqual([table, [{ count: 0 }]]);
  }
  await client.end();
});

test('does not write, change or delete a row of another tenant', async () => {
  const row = { tenant_id: 2, agent_id: 'x', baseline: '{}' };
  const write = storage.write(1, ({ db }) => db.insertInto('agent_baselines').values(row).execute());
  await expect(write).rejects.toMatchObject({ code: '42501' });
  const changed = await storage.write(1, async ({ db }) => [
    await db
      .updateTable('policies')
      .set({ status: 'archived' })
      .where('tenant_id', '=', 2)
      .executeTakeFirst(),
    await db.deleteFrom('events').where('tenant_id', '=', 2).executeTakeFirst(),
  ]);
  expect(changed.map((result) => Object.values(result)[0])).toEqual([0n, 0n]);
});

test.each([
  ['authenticate', ['api_keys', 'sign_ins']],
  ['administer', ['api_keys', 'sign_ins']],
  ['migrate', []],
] as const)('lets cross-tenant work of the kind %s see only %j', async (kind, allowed) => {
  expect(await visible(kind)).toEqual([...allowed]);
});

test('lets a sweep find due work, but no event, key, policy or payload', async () => {
  const seen = await visible('sweep');
  expect(seen).toEqual(expect.arrayContaining(['deliveries', 'pending_actions', 'sessions']));
  for (const table of ['events', 'api_keys', 'policies', 'notification_channels', 'agents', 'session_risk']) {
    expect(seen).not.toContain(table);
  }
});

/** Returns the tables in which one kind of work sees rows. */
async function visible(kind: CrossTenantWork): Promise<string[]> {
  const seen: string[] = [];
  for (const table of tables.filter((name) => !name.startsWith('events_'))) {
    const rows = await storage.readAcross(kind, (db) =>
      db
        .selectFrom(table as keyof Tables)
        .selectAll()
        .execute(),
    );
    if (rows.length > 0) seen.push(table);
  }
  return seen.sort();
}

test('refuses a role that bypasses row-level security', async () => {
  const database = url.replace('//actlog@', '//postgres@');
  await expect(testServer({ database, secret: 's'.repeat(32) })).rejects.toThrow(
    'bypasses row-level security',
  );
});
