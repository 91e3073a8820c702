import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { deleteExpiredData } from '../src/background/background-tasks.ts';
import { deleteTenant } from '../src/deletion/delete-tenant.ts';
import type { ServerOptions } from '../src/index.ts';
import { openStorage } from '../src/open-storage.ts';
import { dropPendingActions } from '../src/storage/stores/pending-action-store.ts';
import { saveTenantRisk } from '../src/storage/stores/risk-store.ts';
import { tenantIdOf } from '../src/storage/stores/tenant-store.ts';
import { createKey } from '../src/tenants/key-changes.ts';
import { runHere } from './command-line.ts';
import { afterNextRead } from './storage-seam.ts';
import { asSuperuser, onPostgres, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const hourMs = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Returns options of servers on one database of a test. */
async function database(): Promise<ServerOptions & { readonly database: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-deletion-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ database: join(folder, 'actlog.db') });
  return { webhookAllowedRanges: ['127.0.0.0/8'], ...options, database: options.database as string };
}

interface Row {
  readonly table: string;
  readonly tenant: number;
  /** All columns of the row. */
  readonly text: string;
}

/** Returns every row of the tables with a tenant, and of the tenants. */
async function allRows(address: string): Promise<Row[]> {
  if (onPostgres) {
    const named = await asSuperuser<{ name: string }>(
      `select table_name as name from information_schema.columns
       where table_schema = 'public' and column_name = 'tenant_id' and table_name <> 'event_rows'`,
      address,
    );
    const tables = [...named.map(({ name }) => [name, 'tenant_id']), ['tenants', 'id']];
    const rows = tables.map(([table, tenant]) =>
      asSuperuser<Row>(
        `select '${table}' as "table", ${tenant}::int as tenant, to_json(t)::text as text from ${table} t`,
        address,
      ),
    );
    return (await Promise.all(rows)).flat();
  }
  const file = new DatabaseSync(address, { readOnly: true });
  try {
    const tables = file
      .prepare(
        "select name from sqlite_schema where type = 'table' and (name = 'tenants' or sql like '%tenant_id%')",
      )
      .all()
      .map(({ name }) => name as string);
    return tables.flatMap((table) =>
      file
        .prepare(`select * from "${table}"`)
        .all()
        .map((row) => ({
          table,
          tenant: (table === 'tenants' ? row.id : row.tenant_id) as number,
          text: JSON.stringify(row),
        })),
    );
  } finally {
    file.close();
  }
}

/** Gives a server's tenant a row in every table: sessions with two ids, one with a held action. */
async function busyServer(server: TestServer, sessionIds: readonly string[]): Promise<void> {
  const receiver = new WebhookReceiver();
  const url = await receiver.listen();
  atTestEnd(() => receiver.close());
  await server.ok('notificationChannels.create', { body: { url } });
  await server.policy({
    name: 'refunds',
    effect: 'require_approval',
    match: { tools: ['refund'] },
    rate: { max: 0, windowSeconds: 60, per: 'session' },
  });
  await server.policy({ name: 'wipes', match: { tools: ['wipe'] } });
  for (const [index, sessionId] of sessionIds.entries()) {
    const agentId = `agent of ${sessionId}`;
    for (const toolName of ['fetch_web_page', 'get_credentials', 'send_email', 'delete_user']) {
      await server.record({
        agentId,
        sessionId,
        payload: { toolName, argumentsHash: 'sha256:aa', responseStatus: 200 },
      });
    }
    const { pendingActionId } = await server.check({
      agentId,
      sessionId,
      actionId: `refund ${index}`,
      action: {
        toolName: 'refund',
        argumentsHash: 'sha256:aa',
        // Words in the arguments that look like another message's session.
        arguments: { of: `customer of ${sessionId}`, nested: { sessionId: 'gone' } },
      },
    });
    await server.ok('guardian.pendingActions.decide', {
      id: pendingActionId as string,
      body: { decision: 'approve' },
      // Sent as the client does; the response, with the displayed arguments, is stored for repeats.
      headers: { 'idempotency-key': `decided-${sessionId}` },
    });
  }
}

/** `true` if a text occurs anywhere in the files of a database. */
function isInFiles(address: string, text: string): boolean {
  return [address, `${address}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(text));
}

/** Runs one round of a server's cleanup. */
async function cleanUp(options: ServerOptions & { readonly database: string }, nowMs: number) {
  const storage = await openStorage({ ...options, connections: 2 });
  await deleteExpiredData(storage, nowMs).finally(() => storage.close());
}

test.skipIf(onPostgres)(
  'removes deleted data from every file of the database while the server runs',
  async () => {
    const options = await database();
    const server = await testServer(options);
    const numbers = [...Array(5).keys()];
    const record = async () => {
      for (const number of numbers) {
        for (const fate of ['gone', 'kept']) {
          const payload = { toolName: 'search', argumentsHash: `words of ${fate}`, responseStatus: 200 };
          await server.record({ sessionId: `${fate}-${number}`, payload });
        }
      }
    };
    await busyServer(
      server,
      numbers.flatMap((number) => [`gone-${number}`, `kept-${number}`]),
    );
    await record();
    // Content of the file is in the log as well once it has changed.
    await cleanUp(options, Date.now());
    await record();
    const { admin } = server.server;
    for (const number of numbers)
      await admin.sessions.delete(server.tenant, `gone-${number}`, { erasure: 'Request 1' });
    const left = () =>
      ['customer of gone', 'words of gone'].filter((text) => isInFiles(options.database, text));
    // A log that is being read stays until the next deletion or cleanup.
    const deleteOneMore = async () => {
      await server.record({ sessionId: 'gone' });
      await admin.sessions.delete(server.tenant, 'gone', { erasure: 'Request 1' });
      return left();
    };
    await expect.poll(deleteOneMore, { timeout: 10_000 }).toEqual([]);
    expect(isInFiles(options.database, 'customer of kept')).toBe(true);
    const log = `${options.database}-wal`;
    await record();
    expect(statSync(log).size).toBeGreaterThan(0);
    const sweep = async () => {
      await cleanUp(options, Date.now());
      return statSync(log).size;
    };
    await expect.poll(sweep, { timeout: 10_000 }).toBe(0);
  },
);

test('deletes everything of a session but the learned baseline and counts, and nothing of other sessions', async () => {
  const options = await database();
  const server = await testServer(options);
  await busyServer(server, ['gone', 'kept']);
  const before = (await allRows(options.database)).filter(({ text }) => text.includes('of gone'));
  expect(new Set(before.map(({ table }) => table))).toEqual(
    new Set([
      'activity',
      'agents',
      'checked_actions',
      'deliveries',
      'events',
      'key_agents',
      'pending_actions',
      'policy_decisions',
      'session_agents',
      'sessions',
    ]),
  );
  await server.server.admin.sessions.delete(server.tenant, 'gone', { erasure: 'Request 1' });
  const rows = await allRows(options.database);
  const left = rows.filter(({ text }) => text.includes('of gone') || text.includes('"session_id":"gone"'));
  // Counts of an agent name no session.
  expect(new Set(left.map(({ table }) => table))).toEqual(new Set(['agents', 'activity', 'key_agents']));
  const decided = rows.filter(({ text }) => text.includes('guardian.pendingActions.decide'));
  expect(decided).toEqual([]);
  expect(rows.filter(({ table }) => table === 'deliveries').length).toBeGreaterThan(1);
  expect((await server.ok('sessions.list')).items.map(({ id }) => id)).toEqual(['kept']);
  expect((await server.ok('sessions.get', { id: 'kept' })).eventCount).toBeGreaterThan(4);
  expect(await server.refused('sessions.get', { id: 'gone' })).toMatchObject({ status: 404 });
  expect(await server.refused('sessions.risk', { id: 'gone' })).toMatchObject({ status: 404 });
  expect((await server.server.admin.tenants.quota(server.tenant)).sessions.used).toBe(1);
  await expect(
    server.server.admin.sessions.delete(server.tenant, 'gone', { erasure: 'Request 1' }),
  ).rejects.toThrow('The tenant "default" has no session "gone".');
});

test('deletes a message about the session that is queued during the deletion', async () => {
  const options = await database();
  const server = await testServer(options);
  await busyServer(server, ['gone', 'kept']);
  const queueMessages = async () => {
    for (const sessionId of ['gone', 'kept']) {
      const action = { toolName: 'wipe', argumentsHash: 'sha256:aa' };
      await server.check({ agentId: `agent of ${sessionId}`, sessionId, action });
    }
  };
  afterNextRead(queueMessages);
  await server.server.admin.sessions.delete(server.tenant, 'gone', { erasure: 'Request 1' });
  const deliveries = (await allRows(options.database)).filter(({ table }) => table === 'deliveries');
  const denials = deliveries.filter(({ text }) => text.includes('policy.matched'));
  expect(denials.filter(({ text }) => text.includes('of kept')).length).toBeGreaterThan(0);
  expect(deliveries.filter(({ text }) => text.includes('of gone'))).toEqual([]);
});

test('recreates a deleted session from later events', async () => {
  const server = await testServer();
  await server.record({}, {});
  await server.server.admin.sessions.delete(server.tenant, 'thread-1', { erasure: 'Request 1' });
  await server.record({});
  expect(await server.ok('sessions.get', { id: 'thread-1' })).toMatchObject({ eventCount: 1 });
});

test('does not delete a session with a pending action, which can still be decided', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check();
  const { admin } = server.server;
  await expect(admin.sessions.delete(server.tenant, 'thread-1', { erasure: 'Request 1' })).rejects.toThrow(
    'An action of the session "thread-1" waits for a decision: approve or deny it first.',
  );
  const body = { decision: 'deny' as const };
  await server.ok('guardian.pendingActions.decide', { id: pendingActionId as string, body });
  await admin.sessions.delete(server.tenant, 'thread-1', { erasure: 'Request 1' });
  expect((await server.ok('guardian.pendingActions.list', { query: { status: 'denied' } })).items).toEqual(
    [],
  );
});

test('deletes checked actions of a session that were never recorded', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const options = await database();
  const server = await testServer(options);
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 1, onTimeout: 'deny' } });
  await server.check({ agentId: 'agent of gone', sessionId: 'gone' });
  // The action has expired, even before the sweep.
  vi.setSystemTime(Date.now() + 2000);
  await server.server.admin.sessions.delete(server.tenant, 'gone', { erasure: 'Request 1' });
  const left = (await allRows(options.database)).filter(({ text }) => text.includes('gone'));
  // The audit log has its id, so that an operator can tell what was deleted.
  expect(new Set(left.map(({ table }) => table))).toEqual(new Set(['agents', 'audit_log', 'key_agents']));
});

test('repeats a check whose held action was deleted while it waited', async () => {
  const options = await database();
  const server = await testServer(options);
  await server.policy({
    effect: 'require_approval',
    rate: { max: 0, windowSeconds: 60, per: 'agent' },
    approval: { timeoutSeconds: 60, onTimeout: 'deny' },
  });
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  const waiting = server.check({ actionId: 'refund 1' }, { prefer: 'wait=60' });
  const held = await vi.waitFor(async () => {
    const { items } = await server.ok('guardian.pendingActions.list');
    expect(items).toHaveLength(1);
    return items[0]?.id as string;
  });
  // Another process may do this before this one has received the notification of the decision.
  await storage.write(1, ({ db }) => dropPendingActions(db, 1, [held], { by: 'operator' }));
  const response = await waiting;
  expect(response.decision).toBe('require_approval');
  expect(response.pendingActionId).not.toBe(held);
});

test('deletes a session of one tenant only', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.tenants.create('other');
  const { apiKey } = await admin.keys.create('other', { name: 'agent' });
  const other = server.as(apiKey);
  for (const each of [server, other]) await each.record({ sessionId: 'chat' });
  await admin.sessions.delete('other', 'chat', { erasure: 'Request 1' });
  expect((await server.ok('sessions.list')).items).toHaveLength(1);
  expect((await other.ok('sessions.list')).items).toEqual([]);
  await expect(admin.sessions.delete('other', 'chat', { erasure: 'Request 1' })).rejects.toThrow(
    'has no session',
  );
});

/** Starts a server with a second tenant that has rows everywhere. */
async function withTenant() {
  const options = await database();
  const server = await testServer(options);
  const { admin } = server.server;
  await admin.tenants.create('acme');
  const { apiKey, key } = await admin.keys.create('acme', { name: 'agent' });
  const acme = server.as(apiKey);
  await busyServer(acme, ['one', 'two']);
  await busyServer(server, ['mine']);
  await acme.ok('agents.create', { body: { id: 'registered', name: 'Registered' } });
  await admin.toolTags.set('acme', { refund: ['payment'] });
  // Scores the sessions now: a score in the background could write a message during a deletion.
  await acme.ok('sessions.list');
  const tenant = (await allRows(options.database)).find(
    ({ table, text }) => table === 'tenants' && text.includes('acme'),
  )?.tenant as number;
  /** Returns the tables in which the tenant has rows. */
  const tables = async () =>
    new Set((await allRows(options.database)).filter((row) => row.tenant === tenant).map((row) => row.table));
  return { options, server, admin, acme, keyId: key.id, tenant, tables };
}

/** Resolves when the server has noticed that another process ended the key of `tenant`. */
function keyHasEnded(tenant: TestServer): Promise<void> {
  return vi.waitFor(
    async () => expect(await tenant.refused('sessions.list')).toMatchObject({ status: 401 }),
    { timeout: 5000 },
  );
}

test('deletes a tenant: unknown at once, its name free, and nothing left', async () => {
  const { server, admin, acme, tables, options } = await withTenant();
  const mine = async () =>
    (await allRows(options.database)).filter(({ tenant, text }) => tenant === 1 && text.includes('of mine'));
  const before = await mine();
  expect((await tables()).size).toBeGreaterThan(14);
  await admin.tenants.delete('acme', { erasure: 'Request 1' });
  expect(await acme.refused('sessions.list')).toMatchObject({ status: 401 });
  expect(await admin.tenants.list()).toEqual(['default']);
  await expect(admin.tenants.delete('acme', { erasure: 'Request 1' })).rejects.toThrow(
    'There is no tenant "acme"',
  );
  const left = await tables();
  expect(left).toContain('policies');
  for (const table of ['sessions', 'events', 'session_risk', 'deliveries', 'api_keys', 'idempotency_keys']) {
    expect(left).not.toContain(table);
  }

  await admin.tenants.create('acme');
  const recreated = server.as((await admin.keys.create('acme', { name: 'agent' })).apiKey);
  for (const list of [
    'sessions.list',
    'agents.list',
    'policies.list',
    'notificationChannels.list',
  ] as const) {
    expect((await recreated.ok(list)).items).toEqual([]);
  }
  await recreated.record({});

  await cleanUp(options, Date.now() + hourMs / 2);
  expect(await tables()).toContain('policies');
  await cleanUp(options, Date.now() + 2 * hourMs);
  expect(await tables()).toEqual(new Set(['tenants']));
  expect((await recreated.ok('sessions.list')).items).toHaveLength(1);
  expect(before.length).toBeGreaterThan(8);
  // A message about its risk may have been added meanwhile.
  expect((await mine()).length).toBeGreaterThanOrEqual(before.length);
});

test('deletes no row of a tenant whose records have the same keys', async () => {
  const { server, admin, options, tables } = await withTenant();
  await busyServer(server, ['one', 'two']);
  await server.ok('agents.create', { body: { id: 'registered', name: 'Registered' } });
  await admin.toolTags.set('default', { refund: ['payment'] });
  await server.ok('sessions.list');
  // What is too old then goes without a deletion too.
  const inTwoHours = Date.now() + 2 * hourMs;
  await cleanUp(options, inTwoHours);
  const kept = async () => (await allRows(options.database)).filter(({ tenant }) => tenant === 1);
  const before = Map.groupBy(await kept(), ({ table }) => table);
  expect(before.size).toBeGreaterThan(20);
  await admin.tenants.delete('acme', { erasure: 'Request 1' });
  await cleanUp(options, inTwoHours);
  expect(await tables()).toEqual(new Set(['tenants']));
  const after = Map.groupBy(await kept(), ({ table }) => table);
  const lost = [...before.keys()].filter(
    (table) => (after.get(table)?.length ?? 0) < (before.get(table)?.length ?? 0),
  );
  // What waits to be logged goes once it is.
  expect(lost.filter((table) => table !== 'log_pending')).toEqual([]);
});

test('stores no risk state of a deleted tenant', async () => {
  const { options, admin, tenant } = await withTenant();
  await admin.tenants.delete('acme', { erasure: 'Request 1' });
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  await storage.write(tenant, ({ db }) => saveTenantRisk(db, tenant, 'late'));
  const states = (await allRows(options.database)).filter(({ table }) => table === 'tenant_risk');
  expect(states.filter(({ text }) => text.includes('late'))).toEqual([]);
});

test('judges a check in progress by the policies of its deleted tenant', async () => {
  const { options, admin, acme } = await withTenant();
  const beside = (await testServer({ ...options, apiKey: acme.apiKey, tenant: 'acme' })).as(acme.apiKey);
  // The clock of the other server stands still, so it keeps the key cached. It has not read the policies yet.
  vi.useFakeTimers({ toFake: ['Date'] });
  await beside.ok('agents.create', { body: { id: 'revoked', name: 'Revoked' } });
  await beside.ok('agents.update', { id: 'revoked', body: { status: 'revoked' } });
  const send = { toolName: 'send', argumentsHash: 'sha256:aa' };
  await beside.policy({ match: { tools: ['send'] }, rate: { max: 1, windowSeconds: 3600, per: 'tenant' } });
  expect(await beside.check({ action: send })).toMatchObject({ decision: 'allow' });
  await admin.tenants.delete('acme', { erasure: 'Request 1' });
  const wipe = { toolName: 'wipe', argumentsHash: 'sha256:aa' };
  expect(await beside.check({ action: wipe })).toMatchObject({ decision: 'deny' });
  expect(await beside.check({ action: send })).toMatchObject({ decision: 'deny' });
  expect(await beside.check({ agentId: 'revoked' })).toMatchObject({ decision: 'deny' });
});

(onPostgres ? test : () => {})('deletes a key that is created while its tenant is deleted', async () => {
  const { options, server, admin } = await withTenant();
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  let deletion: Promise<void> | undefined;
  let isDeleted = false;
  const { apiKey } = await storage.writeAcross('administer', async ({ db }) => {
    const created = await createKey(db, await tenantIdOf(db, 'acme'), { name: 'late' });
    deletion = admin.tenants.delete('acme', { erasure: 'Request 1' }).then(() => {
      isDeleted = true;
    });
    // Until it waits for this transaction, or turns out not to wait.
    await vi.waitFor(async () => {
      const waits = await asSuperuser('select 1 from pg_locks where not granted', options.database);
      expect(isDeleted || waits.length > 0).toBe(true);
    });
    return created;
  });
  await deletion;
  expect(await server.as(apiKey).refused('sessions.list')).toMatchObject({ status: 401 });
  await expect(admin.keys.create('acme', { name: 'later' })).rejects.toThrow('There is no tenant "acme"');
});

test('completes an interrupted deletion in the cleanup', async () => {
  const { tables, acme, options } = await withTenant();
  // A separate storage, because the server writes at any time, such as after it sent a message.
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  vi.spyOn(storage, 'write').mockRejectedValueOnce(new Error('The process ended.'));
  await expect(deleteTenant(storage, 'acme', Date.now(), () => {}, { erasure: 'Request 1' })).rejects.toThrow(
    'The process ended.',
  );
  await keyHasEnded(acme);
  expect(await tables()).toContain('sessions');
  await cleanUp(options, Date.now() + 2 * hourMs);
  expect(await tables()).toEqual(new Set(['tenants']));
});

test.skipIf(onPostgres)('deletes by command while a server runs', async () => {
  const { options, server, acme } = await withTenant();
  const command = (...args: string[]) => runHere([...args, '--database', options.database]);
  await acme.record({ sessionId: 'one' });
  await command('sessions', 'delete', 'one', '--tenant', 'acme', '--erasure', 'Request 1');
  await acme.record({ sessionId: 'one' });
  expect(await acme.ok('sessions.get', { id: 'one' })).toMatchObject({ eventCount: 1 });
  expect((await command('tenants', 'list')).stdout).toBe('acme\ndefault\n');
  await expect(command('tenants', 'delete', 'acme')).rejects.toMatchObject({
    code: 1,
    stderr:
      'The tenant "acme" has 2 sessions, 1 keys, 2 active policies and 1 active webhooks. Add --yes to delete it with all of them permanently.\n',
  });
  await expect(command('tenants', 'delete', 'acme', '--yes')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('of less than 183 days, the floor in "retentionFloors"'),
  });
  await command('tenants', 'delete', 'acme', '--yes', '--erasure', 'Contract 12 has ended');
  expect((await command('tenants', 'list')).stdout).toBe('default\n');
  await keyHasEnded(acme);
  await server.record({});
});
