import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, expect, test, vi } from 'vitest';
import { deleteTenant } from '../src/deletion/delete-tenant.ts';
import { keepHouse } from '../src/housekeeping.ts';
import type { ServerOptions } from '../src/index.ts';
import { makeKey } from '../src/keys/key-changes.ts';
import { tenantIdOf } from '../src/keys/provisioning.ts';
import { openStorage } from '../src/storage/open-storage.ts';
import { dropPendingActions } from '../src/storage/pending-action-store.ts';
import { commandLine, run } from './command-line.ts';
import { asSuperuser, onPostgres, withTestDatabase } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { type TestServer, testServer } from './test-server.ts';
import { WebhookReceiver } from './webhook-receiver.ts';

const hourMs = 3_600_000;

afterEach(() => {
  vi.useRealTimers();
});

/** Options of servers on one database of a test. */
async function database(): Promise<ServerOptions & { readonly database: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-deletion-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const options = await withTestDatabase({ database: join(folder, 'actlog.db') });
  return { webhookAllowedRanges: ['127.0.0.0/8'], ...options, database: options.database as string };
}

interface Row {
  readonly table: string;
  readonly tenant: number;
  /** All of its columns. */
  readonly text: string;
}

/** Every row of every table that says whose it is, and of the tenants. */
async function allRows(address: string): Promise<Row[]> {
  if (onPostgres) {
    const named = await asSuperuser<{ name: string }>(
      `select table_name as name from information_schema.columns
       where table_schema = 'public' and column_name = 'tenant_id' and table_name not like 'events\\_%'`,
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

/** A server whose tenant has something in every table: sessions of two ids, one of them with what a person was shown. */
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
        // Words of the arguments that look like another message's.
        arguments: { of: `customer of ${sessionId}`, nested: { sessionId: 'gone' } },
      },
    });
    await server.ok('guardian.pendingActions.decide', {
      id: pendingActionId as string,
      body: { decision: 'approve' },
      // As the client sends it; the answer, with what was shown, is kept for a repeat.
      headers: { 'idempotency-key': `decided-${sessionId}` },
    });
  }
}

/** Whether a text stands anywhere in the files of a database. */
function isInFiles(address: string, text: string): boolean {
  return [address, `${address}-wal`].some((file) => existsSync(file) && readFileSync(file).includes(text));
}

/** One round of a server's housekeeping. */
async function housekeeping(options: ServerOptions & { readonly database: string }, nowMs: number) {
  const storage = await openStorage({ ...options, connections: 2 });
  await keepHouse(storage, nowMs).finally(() => storage.close());
}

test.skipIf(onPostgres)('what was deleted is in no file of the database, while the server runs', async () => {
  const options = await database();
  const server = await testServer(options);
  const numbers = [...Array(20).keys()];
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
  // What stands in the file by then is found in the log as well, once it has changed.
  await housekeeping(options, Date.now());
  await record();
  const { admin } = server.server;
  for (const number of numbers) await admin.deleteSession('default', `gone-${number}`);
  const left = () =>
    ['customer of gone', 'words of gone'].filter((text) => isInFiles(options.database, text));
  // A log that somebody reads just then stays until the next deletion, or the next housekeeping.
  const deleteOneMore = async () => {
    await server.record({ sessionId: 'gone' });
    await admin.deleteSession('default', 'gone');
    return left();
  };
  await expect.poll(deleteOneMore).toEqual([]);
  expect(isInFiles(options.database, 'customer of kept')).toBe(true);
  const log = `${options.database}-wal`;
  await record();
  expect(statSync(log).size).toBeGreaterThan(0);
  const sweep = async () => {
    await housekeeping(options, Date.now());
    return statSync(log).size;
  };
  await expect.poll(sweep).toBe(0);
});

test('a deleted session leaves nothing behind but what was learned of its agent, and no other session loses anything', async () => {
  const options = await database();
  const server = await testServer(options);
  await busyServer(server, ['gone', 'kept']);
  const before = (await allRows(options.database)).filter(({ text }) => text.includes('of gone'));
  expect(new Set(before.map(({ table }) => table))).toEqual(
    new Set([
      'agents',
      'checked_actions',
      'deliveries',
      'events',
      'pending_actions',
      'session_agents',
      'sessions',
    ]),
  );
  await server.server.admin.deleteSession('default', 'gone');
  const rows = await allRows(options.database);
  const left = rows.filter(({ text }) => text.includes('of gone') || text.includes('"session_id":"gone"'));
  expect(left.map(({ table }) => table)).toEqual(['agents']);
  const decided = rows.filter(({ text }) => text.includes('guardian.pendingActions.decide'));
  expect(decided).toEqual([]);
  expect(rows.filter(({ table }) => table === 'deliveries').length).toBeGreaterThan(1);
  expect((await server.ok('sessions.list')).items.map(({ id }) => id)).toEqual(['kept']);
  expect((await server.ok('sessions.get', { id: 'kept' })).eventCount).toBeGreaterThan(4);
  expect(await server.refused('sessions.get', { id: 'gone' })).toMatchObject({ status: 404 });
  expect(await server.refused('sessions.risk', { id: 'gone' })).toMatchObject({ status: 404 });
  expect((await server.server.admin.quota('default')).sessions.used).toBe(1);
  await expect(server.server.admin.deleteSession('default', 'gone')).rejects.toThrow(
    'The tenant "default" has no session "gone".',
  );
});

test('a deleted session that goes on begins anew', async () => {
  const server = await testServer();
  await server.record({}, {});
  await server.server.admin.deleteSession('default', 'thread-1');
  await server.record({});
  expect(await server.ok('sessions.get', { id: 'thread-1' })).toMatchObject({ eventCount: 1 });
});

test('a session whose action waits is not deleted, and the action can be decided', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const { pendingActionId } = await server.check();
  const { admin } = server.server;
  await expect(admin.deleteSession('default', 'thread-1')).rejects.toThrow(
    'An action of the session "thread-1" waits for a decision: approve or deny it first.',
  );
  const body = { decision: 'deny' as const };
  await server.ok('guardian.pendingActions.decide', { id: pendingActionId as string, body });
  await admin.deleteSession('default', 'thread-1');
  expect((await server.ok('guardian.pendingActions.list', { query: { status: 'denied' } })).items).toEqual(
    [],
  );
});

test('what of a session was checked and never recorded is deleted, too', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const options = await database();
  const server = await testServer(options);
  await server.policy({ effect: 'require_approval', approval: { timeoutSeconds: 1, onTimeout: 'deny' } });
  await server.check({ agentId: 'agent of gone', sessionId: 'gone' });
  // Its time is over, whether or not the sweep has come by.
  vi.setSystemTime(Date.now() + 2000);
  await server.server.admin.deleteSession('default', 'gone');
  const left = (await allRows(options.database)).filter(({ text }) => text.includes('gone'));
  expect(left.filter(({ table }) => table !== 'agents')).toEqual([]);
});

test('a check that waits for a decision which was deleted meanwhile is asked about anew', async () => {
  const options = await database();
  const server = await testServer(options);
  await server.policy({
    effect: 'require_approval',
    rate: { max: 0, windowSeconds: 60, per: 'agent' },
    approval: { timeoutSeconds: 60, onTimeout: 'deny' },
  });
  const waiting = server.check({ actionId: 'refund 1' }, { prefer: 'wait=2' });
  const held = await vi.waitFor(async () => {
    const { items } = await server.ok('guardian.pendingActions.list');
    expect(items).toHaveLength(1);
    return items[0]?.id as string;
  });
  // As another process may do in the moment in which this one has not heard of the decision yet.
  const storage = await openStorage({ ...options, connections: 2 });
  await storage.write(1, ({ db }) => dropPendingActions(db, 1, [held])).finally(() => storage.close());
  const answer = await waiting;
  expect(answer.decision).toBe('require_approval');
  expect(answer.pendingActionId).not.toBe(held);
});

test('a session is deleted of one tenant only', async () => {
  const server = await testServer();
  const { admin } = server.server;
  await admin.createTenant('other');
  const { apiKey } = await admin.createKey('other', { name: 'agent' });
  const other = server.as(apiKey);
  for (const each of [server, other]) await each.record({ sessionId: 'chat' });
  await admin.deleteSession('other', 'chat');
  expect((await server.ok('sessions.list')).items).toHaveLength(1);
  expect((await other.ok('sessions.list')).items).toEqual([]);
  await expect(admin.deleteSession('other', 'chat')).rejects.toThrow('has no session');
});

/** A server with a tenant that has something everywhere, beside its own. */
async function withTenant() {
  const options = await database();
  const server = await testServer(options);
  const { admin } = server.server;
  await admin.createTenant('acme');
  const { apiKey, key } = await admin.createKey('acme', { name: 'agent' });
  const acme = server.as(apiKey);
  await busyServer(acme, ['one', 'two']);
  await busyServer(server, ['mine']);
  await acme.ok('agents.create', { body: { id: 'registered', name: 'Registered' } });
  await admin.setToolTags('acme', { refund: ['payment'] });
  const tenant = (await allRows(options.database)).find(
    ({ table, text }) => table === 'tenants' && text.includes('acme'),
  )?.tenant as number;
  /** The tables in which the tenant has rows. */
  const tables = async () =>
    new Set((await allRows(options.database)).filter((row) => row.tenant === tenant).map((row) => row.table));
  return { options, server, admin, acme, keyId: key.id, tables };
}

/** Resolves when the server has heard that the key of `tenant` was ended by another process. */
function keyHasEnded(tenant: TestServer): Promise<void> {
  return vi.waitFor(
    async () => expect(await tenant.refused('sessions.list')).toMatchObject({ status: 401 }),
    { timeout: 5000 },
  );
}

test('a deleted tenant is unknown at once, its name is free, and nothing of it stays', async () => {
  const { server, admin, acme, tables, options } = await withTenant();
  const mine = async () =>
    (await allRows(options.database)).filter(({ tenant, text }) => tenant === 1 && text.includes('of mine'));
  const before = await mine();
  expect((await tables()).size).toBeGreaterThan(14);
  await admin.deleteTenant('acme');
  expect(await acme.refused('sessions.list')).toMatchObject({ status: 401 });
  expect(await admin.tenants()).toEqual(['default']);
  await expect(admin.deleteTenant('acme')).rejects.toThrow('There is no tenant "acme"');
  const left = await tables();
  expect(left).toContain('policies');
  for (const table of ['sessions', 'events', 'session_risk', 'deliveries', 'api_keys', 'idempotency_keys']) {
    expect(left).not.toContain(table);
  }

  await admin.createTenant('acme');
  const anew = server.as((await admin.createKey('acme', { name: 'agent' })).apiKey);
  for (const list of [
    'sessions.list',
    'agents.list',
    'policies.list',
    'notificationChannels.list',
  ] as const) {
    expect((await anew.ok(list)).items).toEqual([]);
  }
  await anew.record({});

  await housekeeping(options, Date.now() + hourMs / 2);
  expect(await tables()).toContain('policies');
  await housekeeping(options, Date.now() + 2 * hourMs);
  expect(await tables()).toEqual(new Set(['tenants']));
  expect((await anew.ok('sessions.list')).items).toHaveLength(1);
  expect(before.length).toBeGreaterThan(8);
  // A message about its risk may have come since.
  expect((await mine()).length).toBeGreaterThanOrEqual(before.length);
});

test('a check that is on its way while its tenant is deleted is judged by its policies', async () => {
  const { options, admin, acme } = await withTenant();
  const beside = (await testServer({ ...options, apiKey: acme.apiKey, tenant: 'acme' })).as(acme.apiKey);
  // The clock of the other server stands still, so it goes on believing the key. It has not read the policies yet.
  vi.useFakeTimers({ toFake: ['Date'] });
  await beside.ok('agents.create', { body: { id: 'revoked', name: 'Revoked' } });
  await beside.ok('agents.update', { id: 'revoked', body: { status: 'revoked' } });
  const send = { toolName: 'send', argumentsHash: 'sha256:aa' };
  await beside.policy({ match: { tools: ['send'] }, rate: { max: 1, windowSeconds: 3600, per: 'tenant' } });
  expect(await beside.check({ action: send })).toMatchObject({ decision: 'allow' });
  await admin.deleteTenant('acme');
  const wipe = { toolName: 'wipe', argumentsHash: 'sha256:aa' };
  expect(await beside.check({ action: wipe })).toMatchObject({ decision: 'deny' });
  expect(await beside.check({ action: send })).toMatchObject({ decision: 'deny' });
  expect(await beside.check({ agentId: 'revoked' })).toMatchObject({ decision: 'deny' });
});

test.runIf(onPostgres)('a key that is made while its tenant is deleted is deleted, too', async () => {
  const { options, server, admin } = await withTenant();
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  let deletion: Promise<void> | undefined;
  let isDeleted = false;
  const { apiKey } = await storage.writeAcross('administer', async ({ db }) => {
    const made = await makeKey(db, await tenantIdOf(db, 'acme'), { name: 'late' });
    deletion = admin.deleteTenant('acme').then(() => {
      isDeleted = true;
    });
    // Until it waits for this transaction, or has not waited for it.
    await vi.waitFor(async () => {
      const waits = await asSuperuser('select 1 from pg_locks where not granted', options.database);
      expect(isDeleted || waits.length > 0).toBe(true);
    });
    return made;
  });
  await deletion;
  expect(await server.as(apiKey).refused('sessions.list')).toMatchObject({ status: 401 });
  await expect(admin.createKey('acme', { name: 'later' })).rejects.toThrow('There is no tenant "acme"');
});

test('a deletion that was cut off is ended by the housekeeping', async () => {
  const { tables, acme, options } = await withTenant();
  // Of another process: the server writes by itself at any time, such as about a message that it has sent.
  const storage = await openStorage({ ...options, connections: 2 });
  atTestEnd(() => storage.close());
  vi.spyOn(storage, 'write').mockRejectedValueOnce(new Error('The process ended.'));
  await expect(deleteTenant(storage, 'acme', Date.now(), () => {})).rejects.toThrow('The process ended.');
  await keyHasEnded(acme);
  expect(await tables()).toContain('sessions');
  await housekeeping(options, Date.now() + 2 * hourMs);
  expect(await tables()).toEqual(new Set(['tenants']));
});

test.skipIf(onPostgres)('the commands delete beside a server that runs', async () => {
  const { options, server, acme } = await withTenant();
  const command = (...args: string[]) =>
    run(process.execPath, [...commandLine, ...args, '--database', options.database]);
  await acme.record({ sessionId: 'one' });
  await command('sessions', 'delete', 'one', '--tenant', 'acme');
  await acme.record({ sessionId: 'one' });
  expect(await acme.ok('sessions.get', { id: 'one' })).toMatchObject({ eventCount: 1 });
  expect((await command('tenants', 'list')).stdout).toBe('acme\ndefault\n');
  await expect(command('tenants', 'delete', 'acme')).rejects.toMatchObject({
    code: 1,
    stderr:
      'The tenant "acme" has 2 sessions, 1 keys, 2 active policies and 1 active webhooks. Add --yes to delete it with all of them, for good.\n',
  });
  await command('tenants', 'delete', 'acme', '--yes');
  expect((await command('tenants', 'list')).stdout).toBe('default\n');
  await keyHasEnded(acme);
  await server.record({});
});
