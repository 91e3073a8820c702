import { expect, test } from 'vitest';
import { sendTo, sentTo } from './audit-entries.ts';
import { checkBody, readError, testServer } from './test-server.ts';

const draft = {
  name: 'refunds',
  effect: 'deny',
  match: { tools: ['refund'] },
  message: 'No refunds.',
} as const;

test('checks an action as if a draft were active, beside the active policies', async () => {
  const server = await testServer();
  const { id } = await server.policy({ effect: 'require_approval', name: 'everything' });
  const path = '/server/v1/trials';
  const both = await sentTo(server, 'POST', path, { policies: [draft], check: checkBody() });
  expect(both).toMatchObject({
    decision: 'deny',
    decidedBy: 'draft_0',
    matched: [{ policyId: 'draft_0', message: 'No refunds.' }, { policyId: id }],
  });
  const other = checkBody({ action: { toolName: 'read', argumentsHash: 'sha256:aa' } });
  const unmatched = await sentTo(server, 'POST', path, { policies: [draft], check: other });
  expect(unmatched).toMatchObject({ decision: 'require_approval', decidedBy: id });
  const alone = await sentTo(server, 'POST', path, { policies: [draft], mode: 'replace', check: other });
  expect(alone).toMatchObject({ decision: 'allow', matched: [] });
});

test('tries a draft instead of the active policy with its name, and changes nothing', async () => {
  const server = await testServer();
  await server.policy({ ...draft, effect: 'require_approval' });
  const allowed = { ...draft, condition: 'args.amount > 100.0' };
  const check = checkBody({
    actionId: 'a',
    action: { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { amount: 5 } },
  });
  const tried = await sentTo(server, 'POST', '/server/v1/trials', { policies: [allowed], check });
  expect(tried).toMatchObject({ decision: 'allow' });
  expect((await server.ok('guardian.pendingActions.list')).items).toEqual([]);
  expect(await sentTo(server, 'GET', '/server/v1/decisions')).toMatchObject({ items: [] });
  expect(await server.check(check)).toMatchObject({ decision: 'require_approval' });
});

test('names the field of a draft that is invalid', async () => {
  const server = await testServer();
  const policies = [{ ...draft, condition: 'args.' }];
  const error = await readError(
    await sendTo(server, 'POST', '/server/v1/trials', { policies, check: checkBody() }),
  );
  expect(error).toMatchObject({ status: 400, details: [{ path: 'policies.0.condition' }] });
  const { apiKey } = await server.server.admin.keys.create(server.tenant, { name: 'r', scopes: ['ingest'] });
  const body = { policies: [draft], check: checkBody() };
  expect((await sendTo(server.as(apiKey), 'POST', '/server/v1/trials', body)).status).toBe(403);
});
