import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { historySetting } from '../../src/history/click-house.ts';
import type { ServerOptions } from '../../src/index.ts';
import { get } from '../evidence/logged-records.ts';
import { activityEvent, testServer } from '../test-server.ts';

const address = 'https://actlog:xyz%204711@clickhouse.example.com:8443/actlog';

async function refused(options: ServerOptions): Promise<string> {
  return testServer(options).then(
    () => 'accepted',
    (error: Error) => error.message,
  );
}

test('reads the user, the password and the database from the address', () => {
  expect(historySetting.parse(address)).toEqual({
    url: 'https://clickhouse.example.com:8443',
    username: 'actlog',
    password: 'xyz 4711',
    database: 'actlog',
  });
});

test.each([
  'actlog:xyz-4711@clickhouse.example.com/actlog',
  'tcp://actlog:xyz-4711@clickhouse.example.com:9000/actlog',
  'https://actlog:xyz-4711@clickhouse.example.com:8443',
  'https://actlog:xyz-4711@clickhouse.example.com:8443/actlog/events',
  'https://actlog:xyz-4711@clickhouse.example.com:8443/actlog?secure=1',
  'https://actlog:xyz-4711%@clickhouse.example.com:8443/actlog',
  'https://clickhouse.example.com:8443/actlog',
])('refuses the address %s without its password', async (history) => {
  const message = await refused({ history });
  expect(message).toContain('history: must be an address such as https://user:password@');
  expect(message).not.toContain('4711');
});

test('needs the log, and its name for itself', async () => {
  expect(await refused({ history: address, keepLog: false })).toContain('keepLog: must be true with history');
  const forward: ServerOptions['forward'] = [{ kind: 'elastic', name: 'history', url: 'http://127.0.0.1:1' }];
  expect(await refused({ history: address, forward })).toContain('forward: must have no destination');
});

test('says in each response that may lack records since when the history cannot be reached', async () => {
  const server = await testServer({ history: 'http://actlog:secret@127.0.0.1:1/actlog' });
  await server.ok('events.create', { body: activityEvent({ sessionId: 's-1', agentId: 'agent-1' }) });
  const startMs = Date.now();
  const missing = async (path: string) => {
    const response = await get(server, path);
    const since = response.headers.get('x-actlog-history-missing-since');
    return { status: response.status, since, body: await response.json() };
  };
  const { since, ...list } = await missing('/v1/sessions');
  expect(list).toMatchObject({ status: 200, body: { items: [{ id: 's-1' }] } });
  expect(Date.parse(since ?? '')).toBeGreaterThanOrEqual(startMs);
  // The time is that of the first failure.
  for (const path of [
    '/v1/agents/agent-1/sessions',
    '/server/v1/sessions',
    '/server/v1/events',
    '/server/v1/agents/agent-1/activity',
    '/server/v1/tools/search/activity',
  ]) {
    expect(await missing(path)).toMatchObject({ status: 200, since });
  }
  for (const path of ['/v1/sessions/s-2', '/v1/sessions/s-2/risk', '/v1/sessions/s-2/export.json']) {
    expect(await missing(path)).toMatchObject({
      status: 503,
      since,
      body: { error: { code: 'OVERLOADED', message: expect.stringContaining('history in ClickHouse') } },
    });
  }
  // These have all that they need in the database.
  for (const path of [
    '/v1/sessions/s-1',
    '/v1/sessions/s-1/risk',
    '/v1/sessions/s-1/export.json',
    '/v1/agents',
  ]) {
    expect(await missing(path)).toMatchObject({ status: 200, since: null });
  }
});

/** Searches events of a server without a history and of one with it, and prints whether the client was loaded. */
const program = `
  import { registerHooks } from 'node:module';
  let isLoaded = false;
  registerHooks({
    resolve(specifier, context, next) {
      if (specifier === '@clickhouse/client') isLoaded = true;
      return next(specifier, context);
    },
  });
  const { startServer } = await import(process.argv[1]);
  for (const settings of [{}, { history: 'http://actlog:secret@127.0.0.1:1/actlog' }]) {
    const server = await startServer({ port: 0, database: ':memory:', docs: false, ...settings });
    const headers = { authorization: 'Bearer ' + server.apiKey };
    const { isHistoryMissing } = await (await fetch(server.url + '/server/v1/events', { headers })).json();
    await server.close();
    console.log(isLoaded, isHistoryMissing);
  }`;

test('loads the client of ClickHouse only with a history', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--conditions=@actlog/source',
    '--input-type=module',
    '--eval',
    program,
    import.meta.resolve('../../src/index.ts'),
  ]);
  expect(stdout.trim().split('\n')).toEqual(['false undefined', 'true true']);
});
