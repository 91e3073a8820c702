import { describe, expect, test } from 'vitest';
import { type ForwardedRecord, ocsfOfRecord, ocsfOfRisk } from '../../src/forward/ocsf.ts';
import { feed, logged } from '../evidence/logged-records.ts';
import { type TestServer, testServer } from '../test-server.ts';
import { ocsfProblems } from './ocsf-validator.ts';

const secretArgument = 'account 4711 of the customer';

/** Returns records of all kinds from the feed of a server. */
async function recordsOf(server: TestServer): Promise<ForwardedRecord[]> {
  await server.record(
    { sessionId: 'a' },
    { sessionId: 'b' },
    { sessionId: 'c', payload: { toolName: 'x', argumentsHash: 'sha256:bb', responseStatus: 500 } },
  );
  await server.record({ category: 'custom', payload: { step: 1 } });
  await server.policy({ effect: 'require_approval' });
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { account: secretArgument } };
  for (const [actionId, decision] of [
    ['x', 'approve'],
    ['y', 'deny'],
  ] as const) {
    const { pendingActionId } = await server.check({ sessionId: 'a', actionId, action });
    await server.ok('guardian.pendingActions.decide', { id: pendingActionId as string, body: { decision } });
  }
  await server.policy({ effect: 'deny' });
  await server.check({ sessionId: 'a', actionId: 'z', action });
  await logged(server, 'approval', 2);
  await logged(server, 'decision', 3);
  await server.server.admin.sessions.delete(server.tenant, 'b', { erasure: 'Request 1' });
  await logged(server, 'deletion', 1);
  return (await feed(server)).map((line) => ({ ...line, tenant: 'default' }) as unknown as ForwardedRecord);
}

describe('OCSF', () => {
  test('maps each kind of record to valid events, without arguments', async () => {
    const records = await recordsOf(await testServer());
    expect(new Set(records.map(({ kind }) => kind))).toEqual(
      new Set(['event', 'decision', 'approval', 'audit', 'deletion']),
    );
    expect(JSON.stringify(records)).toContain(secretArgument);
    for (const record of records) {
      const event = ocsfOfRecord(record);
      expect({ record, problems: ocsfProblems(event) }).toEqual({ record, problems: [] });
      expect(event).toMatchObject({
        metadata: { uid: record.id, sequence: record.index, tenant_uid: 'default' },
      });
      expect(event.time).toBeGreaterThan(0);
      expect(JSON.stringify(event)).not.toContain(secretArgument);
    }
    const shown = records.map((record) => ocsfOfRecord(record));
    expect(shown.find(({ status_code: code }) => code === '500')).toMatchObject({
      activity_name: 'Call',
      status: 'Failure',
      api: { operation: 'x', response: { code: 500 } },
    });
    expect(shown.map(({ disposition }) => disposition)).toEqual(
      expect.arrayContaining(['Logged', 'Delayed', 'Approved', 'Rejected', 'Blocked']),
    );
  });

  test('maps a raised risk to a valid finding, which a later raise updates', () => {
    const raise = { tenant: 't', sessionId: 's', agentId: 'a', score: 71.4, raisedMs: 1_700_000_000_000 };
    const first = ocsfOfRisk({ ...raise, level: 'high', previousLevel: null });
    const second = ocsfOfRisk({ ...raise, level: 'critical', previousLevel: 'high' });
    expect([ocsfProblems(first), ocsfProblems(second)]).toEqual([[], []]);
    expect(first).toMatchObject({ type_uid: 200401, risk_score: 71, risk_level: 'High' });
    expect(second).toMatchObject({ type_uid: 200402, severity: 'Critical', finding_info: { uid: 's' } });
  });
});
