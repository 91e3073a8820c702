import { expect, test } from 'vitest';
import { historySetting } from '../../src/history/click-house.ts';
import type { ServerOptions } from '../../src/index.ts';
import { testServer } from '../test-server.ts';

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
