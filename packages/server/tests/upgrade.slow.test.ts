import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openStorage } from '../src/open-storage.ts';
import { onPostgres } from './test-database.ts';
import { atTestEnd } from './test-end.ts';
import { testServer } from './test-server.ts';

test.skipIf(onPostgres)('denies by a stored condition that is no longer valid', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-upgrade-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'a.db');
  const before = await testServer({ database });
  const { id } = await before.policy({ condition: 'args.path.contains("/etc")' });
  await before.policy({ effect: 'allow', condition: 'true' });
  await before.server.close();
  const connection = new DatabaseSync(database);
  connection.exec(`update policies set definition = replace(definition, 'contains', 'matches')`);
  connection.close();
  const after = await testServer({ database });
  const check = { agentId: 'bot', action: { toolName: 'read_file', argumentsHash: 'sha256:aa' } };
  expect(await after.ok('policies.check', { body: check })).toMatchObject({
    decision: 'deny',
    decidedBy: id,
  });
});

test.skipIf(onPostgres)('evaluates a stored condition that costs more than a new one may', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-upgrade-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'a.db');
  const before = await testServer({ database });
  const { id } = await before.policy({ condition: 'args.words.exists(word, word.contains(args.text))' });
  await before.server.close();
  const connection = new DatabaseSync(database);
  connection.exec(
    `update policies set definition = replace(definition, 'word.contains(args.text)', 'args.text.contains(word)')`,
  );
  connection.close();
  const after = await testServer({ database });
  const decision = async (text: string) => {
    const shown = { words: ['drop', 'delete'], text };
    const action = { toolName: 'query', argumentsHash: 'sha256:aa', arguments: shown };
    return (await after.ok('policies.check', { body: { agentId: 'bot', action } })).decision;
  };
  expect(await decision('please drop it')).toBe('deny');
  expect(await decision('please keep it')).toBe('allow');
  await after.ok('policies.update', { id, body: { name: 'renamed' } });
  const { condition } = await after.ok('policies.get', { id });
  const again = await after.refused('policies.create', {
    body: { name: 'new', effect: 'deny', condition },
  });
  expect(again).toMatchObject({ status: 400, details: [{ path: 'condition', code: 'invalid_condition' }] });
});

test.skipIf(onPostgres)('waits at start for another process that writes the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-upgrade-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  const database = join(folder, 'actlog.db');
  await (await openStorage({ database })).close();
  const other = new DatabaseSync(database);
  atTestEnd(async () => other.close());
  other.exec('begin immediate');
  const messages: string[] = [];
  const storage = await openStorage({
    database,
    onProgress: (message) => {
      messages.push(message);
      if (other.isTransaction) other.exec('commit');
    },
  });
  await storage.close();
  expect(messages).toEqual(['waiting for another process that writes to the database']);
});
