import { expect, test } from 'vitest';
import { sendTo, sentTo } from './audit-entries.ts';
import { checkBody, readError, testServer } from './test-server.ts';

const path = '/server/v1/denied-tools';

test('returns the tools that enforced policies deny an agent in all cases', async () => {
  const server = await testServer();
  await server.policy({ name: 'drops', effect: 'deny', match: { tools: ['drop_*'], agents: ['db*'] } });
  await server.policy({ name: 'reports', effect: 'deny', mode: 'log_only', match: { tools: ['read'] } });
  await server.policy({ name: 'some', effect: 'deny', condition: 'args.n > 1', match: { tools: ['write'] } });
  const tools = ['drop_table', 'read', 'write'];
  expect(await sentTo(server, 'POST', path, { agentId: 'db1', tools })).toEqual({ denied: ['drop_table'] });
  expect(await sentTo(server, 'POST', path, { agentId: 'mailer', tools })).toEqual({ denied: [] });
  expect(await sentTo(server, 'GET', '/server/v1/decisions')).toMatchObject({ items: [] });
});

test('counts what no policy allows as denied, if a fallback denies it', async () => {
  const server = await testServer();
  await server.policy({ name: 'rest', effect: 'deny', priority: -1000, match: { agents: ['billing'] } });
  await server.policy({ name: 'reads', effect: 'allow', match: { tools: ['read_*'] } });
  await server.policy({ name: 'small', effect: 'allow', condition: 'args.n < 5', match: { tools: ['pay'] } });
  await server.policy({ name: 'asks', effect: 'require_approval', match: { tools: ['mail'] } });
  await server.policy({ name: 'tries', effect: 'allow', mode: 'log_only', match: { tools: ['drop'] } });
  const tools = ['read_file', 'pay', 'mail', 'drop', 'exec'];
  expect(await sentTo(server, 'POST', path, { agentId: 'billing', tools })).toEqual({
    denied: ['drop', 'exec'],
  });
  expect(await sentTo(server, 'POST', path, { agentId: 'other', tools })).toEqual({ denied: [] });
});

test('denies what no policy allows, and lets the others decide first', async () => {
  const server = await testServer();
  const { id } = await server.policy({
    name: 'rest',
    effect: 'deny',
    priority: -1000,
    match: { agents: ['billing'] },
  });
  await server.policy({ name: 'reads', effect: 'allow', match: { tools: ['read_*'] } });
  await server.policy({ name: 'asks', effect: 'require_approval', match: { tools: ['mail'] } });
  const check = (agentId: string, toolName: string, more: object = {}) =>
    server.check(checkBody({ agentId, action: { toolName, argumentsHash: 'sha256:aa' }, ...more }));
  expect(await check('billing', 'read_file')).toMatchObject({ decision: 'allow' });
  expect(await check('billing', 'mail')).toMatchObject({ decision: 'require_approval' });
  expect(await check('billing', 'exec')).toMatchObject({ decision: 'deny', decidedBy: id });
  expect(await check('other', 'exec')).toMatchObject({ decision: 'allow', decidedBy: null });
  // An agent that runs inside it has no more rights.
  const inside = { parentAgentIds: ['billing'] };
  expect(await check('other', 'exec', inside)).toMatchObject({ decision: 'deny', decidedBy: id });
  expect(await check('other', 'read_file', inside)).toMatchObject({ decision: 'allow' });
});

test('tells a key nothing about agents that it is not bound to', async () => {
  const server = await testServer();
  await server.policy({ effect: 'deny', match: { tools: ['drop_*'] } });
  const { apiKey } = await server.server.admin.keys.create(server.tenant, {
    name: 'bound',
    scopes: ['ingest'],
    agents: ['billing*', 'support'],
  });
  const key = server.as(apiKey);
  const tools = ['drop_table', 'read'];
  for (const agentId of ['billing2', 'support']) {
    expect(await sentTo(key, 'POST', path, { agentId, tools })).toEqual({ denied: ['drop_table'] });
  }
  const error = await readError(await sendTo(key, 'POST', path, { agentId: 'mailer', tools }));
  expect(error).toMatchObject({ status: 403, code: 'PERMISSION_DENIED' });
  expect(error.message).toContain('"billing*", "support" only, not as "mailer"');
});

test('names the field of a request that is invalid', async () => {
  const server = await testServer();
  const error = await readError(await sendTo(server, 'POST', path, { agentId: 'a', tools: [] }));
  expect(error).toMatchObject({ status: 400, details: [{ path: 'tools' }] });
});
