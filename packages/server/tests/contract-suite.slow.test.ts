import { runContract } from '@actlog/contract';
import { expect, test } from 'vitest';
import { testServer } from './test-server.ts';

test('meets the whole contract, including the reference profile', async () => {
  const { server, apiKey } = await testServer({});
  await server.admin.tenants.create('another');
  const another = await server.admin.keys.create('another', { name: 'suite', kind: 'test' });
  const retired = await server.admin.keys.create('default', { name: 'retired', kind: 'test' });
  await server.admin.keys.revoke('default', retired.key.id);
  const report = await runContract({
    baseURL: server.url,
    apiKey,
    secondTenantKey: another.apiKey,
    retiredKey: retired.apiKey,
    capabilities: ['reference-profile'],
  });
  const idsWith = (wanted: string) =>
    report.requirements.filter(({ status }) => status === wanted).map(({ id }) => id);
  expect(idsWith('failed')).toEqual([]);
  expect(idsWith('skipped')).toEqual(['LIM-01', 'LIM-02']); // its rate limit is not provoked
  expect(report).toMatchObject({ ok: true, complete: true });
});
