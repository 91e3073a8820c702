import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { collectSettings } from '../src/cli/serve-command.ts';
import { startServer, startWithLastingKeys } from '../src/start-server.ts';
import { newApiKey } from '../src/tenants/api-key.ts';
import { atTestEnd } from './test-end.ts';

function databaseFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-keys-'));
  atTestEnd(async () => rmSync(folder, { recursive: true }));
  return join(folder, 'a.db');
}

async function statusOf(url: string, key: string, path = '/v1/sessions'): Promise<number> {
  const response = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  await response.arrayBuffer();
  return response.status;
}

test('keeps the keys of the command when it starts again, until they are revoked', async () => {
  const database = databaseFile();
  const first = await startWithLastingKeys({ database, docs: false });
  await first.close();
  const second = await startWithLastingKeys({ database, docs: false });
  expect([second.apiKey, second.agentKey]).toEqual([first.apiKey, first.agentKey]);
  expect(await statusOf(second.url, first.agentKey as string)).toBe(200);
  expect(await statusOf(second.url, first.agentKey as string, '/console/api/keys')).toBe(403);
  expect(await statusOf(second.url, first.apiKey, '/console/api/keys')).toBe(200);
  await second.admin.keys.revoke('default', first.apiKey.slice(8, 18));
  await second.close();
  const third = await startWithLastingKeys({ database, docs: false });
  atTestEnd(() => third.close());
  expect(third.apiKey).not.toBe(first.apiKey);
  expect(third.agentKey).toBe(first.agentKey);
  expect(await statusOf(third.url, first.apiKey)).toBe(401);
  const other = await startWithLastingKeys({ database: databaseFile(), docs: false });
  atTestEnd(() => other.close());
  expect(other.apiKey).not.toBe(first.apiKey);
});

test('binds the key for agents to the agents of the setting, the same key for the same agents', async () => {
  const database = databaseFile();
  const keyFor = async (agents?: string | string[]) => {
    const server = await startWithLastingKeys({ database, docs: false, ...(agents && { agents }) });
    const { url, agentKey = '' } = server;
    const check = (agentId: string) =>
      fetch(`${url}/v1/policies/check`, {
        method: 'POST',
        headers: { authorization: `Bearer ${agentKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ agentId, action: { toolName: 'refund', argumentsHash: 'sha256:aa' } }),
      });
    const statuses = [(await check('billing-eu')).status, (await check('mailer')).status];
    await server.close();
    return { agentKey, statuses };
  };
  const any = await keyFor();
  const bound = await keyFor('billing*, support');
  expect(any.statuses).toEqual([200, 200]);
  expect(bound.statuses).toEqual([200, 403]);
  expect(bound.agentKey).not.toBe(any.agentKey);
  expect(await keyFor(['support', 'billing*'])).toEqual(bound);
  expect(await keyFor()).toEqual(any);
  await expect(keyFor('billing*,,')).rejects.toThrow('agents');
});

test("does not take an agent's exported key as the administrator's", () => {
  const environment = { ACTLOG_API_KEY: newApiKey('live'), ACTLOG_ADMIN_KEY: '' };
  expect(collectSettings({}, environment, undefined, {})).not.toHaveProperty('apiKey');
  const admin = newApiKey('live');
  expect(collectSettings({}, { ...environment, ACTLOG_ADMIN_KEY: admin }, undefined, {})).toEqual({
    apiKey: admin,
  });
});

test.each([{ scopes: ['ingest'] }, { agents: ['billing'] }] as const)(
  "refuses to start with an existing key of an agent, with %j, as the administrator's",
  async (options) => {
    const database = databaseFile();
    const first = await startServer({ database, docs: false });
    const { apiKey } = await first.admin.keys.create('default', { name: 'billing', ...options });
    await first.close();
    await expect(startServer({ database, docs: false, apiKey })).rejects.toThrow(
      /ACTLOG_ADMIN_KEY\) exists with the scopes .*an administrator's key has every scope/,
    );
  },
);
