import { expect, test } from 'vitest';
import { sendTo, sentTo } from './audit-entries.ts';
import { readError, testServer } from './test-server.ts';

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

test('names the field of a request that is invalid', async () => {
  const server = await testServer();
  const error = await readError(await sendTo(server, 'POST', path, { agentId: 'a', tools: [] }));
  expect(error).toMatchObject({ status: 400, details: [{ path: 'tools' }] });
});
