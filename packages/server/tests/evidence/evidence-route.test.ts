import { type EvidenceRecord, verifyEvidence } from '@actlog/log';
import { parseExactJson } from '@actlog/protocol';
import { expect, test } from 'vitest';
import { testServer } from '../test-server.ts';
import { get, logged, policyOf } from './logged-records.ts';

test('sends all of a period with receipts, and the deletions that explain what is gone', async () => {
  const server = await testServer();
  await server.policy({ name: 'refunds', effect: 'deny', match: { tools: ['refund'] } });
  for (const sessionId of ['a', 'b', 'c']) await server.record({ sessionId });
  const action = { toolName: 'refund', argumentsHash: 'sha256:1' };
  await server.check({ sessionId: 'a', action });
  await logged(server, 'event', 4);
  await server.server.admin.sessions.delete(server.tenant, 'b', { erasure: 'Request 1' });
  await logged(server, 'deletion', 1);
  await logged(server, 'audit', 2);

  const period = '?since=2020-01-01T00:00:00Z&until=2100-01-01T00:00:00Z';
  const response = await get(server, `/server/v1/evidence${period}`);
  const lines = (await response.text())
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => parseExactJson(line) as Record<string, unknown>);
  const head = lines[0] as { readonly checkpoint: string; readonly first: number; readonly last: number };
  expect(lines.at(-1)).toEqual({ type: 'end' });
  expect(lines.filter(({ type }) => type === 'policy')).toMatchObject([{ version: 1, until: null }]);
  expect(lines.filter(({ type }) => type === 'retention')).toHaveLength(4);
  const records = lines.filter(({ type }) => type === 'record') as unknown as EvidenceRecord[];
  const evidence = (some: readonly EvidenceRecord[]) => ({
    checkpoint: head.checkpoint,
    period: {
      sinceMs: Date.parse('2020-01-01'),
      untilMs: Date.parse('2100-01-01'),
      first: head.first,
      last: head.last,
      isFiltered: false,
    },
    records: (async function* () {
      yield* some;
    })(),
  });
  const policy = await policyOf(server);
  expect(await verifyEvidence(evidence(records), { policy })).toMatchObject({
    isProven: true,
    isComplete: true,
    records: records.length,
    deleted: 1,
  });
  const without = records.filter(({ kind }) => kind !== 'deletion');
  expect(await verifyEvidence(evidence(without), { policy })).toMatchObject({
    isComplete: false,
    findings: [{ code: 'record-missing' }, { code: 'record-missing' }],
  });
  expect(
    (await get(server, '/server/v1/evidence?since=2100-01-01T00:00:00Z&until=2020-01-01T00:00:00Z')).status,
  ).toBe(400);
});
