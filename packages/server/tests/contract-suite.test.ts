import { runContract } from '@actlog/contract';
import { expect, test } from 'vitest';
import { testServer } from './test-server.ts';

test('meets the whole contract, including the reference profile', async () => {
  const { server, apiKey } = await testServer();
  await server.admin.createTenant('another');
  const another = await server.admin.createKey('another', { name: 'suite', kind: 'test' });
  const retired = await server.admin.createKey('default', { name: 'retired', kind: 'test' });
  await server.admin.revokeKey('default', retired.key.id);
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
