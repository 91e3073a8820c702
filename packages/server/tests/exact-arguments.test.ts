import { expect, test } from 'vitest';
import { type TestServer, testServer } from './test-server.ts';

const account = '1917043659912705297';
const other = '1917043659912705358';

/** Returns the body of a check whose arguments are this JSON text. */
function body(json: string, fields: object = {}): string {
  const check = { agentId: 'a', sessionId: 's', action: { toolName: 'pay', argumentsHash: 'h' }, ...fields };
  return JSON.stringify(check).replace('"argumentsHash":"h"', `"argumentsHash":"h","arguments":${json}`);
}

async function decision(server: TestServer, json: string, headers = {}): Promise<string> {
  return (await server.ok('policies.check', { body: body(json), headers })).decision;
}

/** Returns the text of a response of the server's own API. */
async function textOf(server: TestServer, path: string, init: RequestInit = {}): Promise<string> {
  const response = await fetch(server.server.url + path, {
    ...init,
    headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
  });
  return response.text();
}

test('matches a condition on exactly the number that was sent', async () => {
  const server = await testServer();
  await server.policy({ effect: 'deny', condition: `args.account == ${account}` });
  expect(await decision(server, `{"account":${account}}`)).toBe('deny');
  expect(await decision(server, `{"account":${other}}`)).toBe('allow');
  expect(await decision(server, '{"account":1917043659912705300}')).toBe('allow');
  expect(await decision(server, `{"account":${account}}`, { prefer: 'dry-run' })).toBe('deny');
});

test.each([
  [`args.account > ${account}`, '{"account":1917043659912705298}', `{"account":${account}}`],
  [`args.account in [1, ${account}]`, `{"account":${account}}`, `{"account":${other}}`],
  [`string(args.account) == "${account}"`, `{"account":${account}}`, `{"account":${other}}`],
  [`args.list[0].id == -${account}`, `{"list":[{"id":-${account}}]}`, `{"list":[{"id":-${other}}]}`],
  ['double(args.account) > 1.0', `{"account":${account}}`, '{"account":1}'],
  ['args.account > 500', `{"account":${account}}`, '{"account":500}'],
])('evaluates %s', async (condition, matching, unmatched) => {
  const server = await testServer();
  await server.policy({ effect: 'deny', condition });
  expect(await decision(server, matching)).toBe('deny');
  expect(await decision(server, unmatched)).toBe('allow');
});

test('binds an approval to every digit, and shows them to the approver', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const first = body(`{"account":${account}}`, { actionId: 'call-1' });
  const { pendingActionId } = await server.ok('policies.check', { body: first });
  const id = pendingActionId as string;
  const listed = await (await server.send('guardian.pendingActions.list')).text();
  expect(listed).toContain(`"arguments":{"account":${account}}`);
  expect(listed).toContain(JSON.stringify(`{"account":${account}}`));
  const decided = await server.send('guardian.pendingActions.decide', { id, body: { decision: 'approve' } });
  expect(await decided.text()).toContain(account);
  expect((await server.ok('policies.check', { body: first })).decision).toBe('allow');
  const changed = { body: body(`{"account":${other}}`, { actionId: 'call-1' }) };
  expect(await server.refused('policies.check', changed)).toMatchObject({
    status: 409,
    code: 'ACTION_MISMATCH',
  });
});

test('does not take an action of another number for one that waits or that a grant covers', async () => {
  const server = await testServer();
  await server.policy({ effect: 'require_approval' });
  const check = (json: string) => server.ok('policies.check', { body: body(json) });
  const { pendingActionId } = await check(`{"account":${account}}`);
  expect((await check(`{"account":${account}}`)).pendingActionId).toBe(pendingActionId);
  expect((await check(`{"account":${other}}`)).pendingActionId).not.toBe(pendingActionId);
  await server.ok('guardian.pendingActions.decide', {
    id: pendingActionId as string,
    body: { decision: 'approve', grant: { for: 'action' } },
  });
  expect((await check(`{"account":${account}}`)).decision).toBe('allow');
  expect((await check(`{"account":${other}}`)).decision).toBe('require_approval');
});

test('keeps every digit in decisions, trials, backtests and earlier calls', async () => {
  const server = await testServer();
  const tried = {
    policies: [{ name: 't', effect: 'deny', condition: `args.account == ${account}` }],
    mode: 'merge',
  };
  const earlier = `session.started("pay", {"account": ${account}})`;
  await server.policy({ effect: 'deny', match: { tools: ['never'] }, condition: earlier });
  expect(await decision(server, `{"account":${account}}`)).toBe('allow');
  expect(await decision(server, `{"account":${other}}`)).toBe('allow');
  expect(await textOf(server, '/server/v1/decisions')).toContain(`"arguments":{"account":${account}}`);
  const backtest = JSON.stringify({ policies: tried.policies });
  const results = await textOf(server, '/server/v1/backtests', { method: 'POST', body: backtest });
  expect(results).toContain('"changed":1');
  for (const [json, expected] of [
    [`{"account":${account}}`, 'deny'],
    [`{"account":${other}}`, 'allow'],
  ] as const) {
    const text = JSON.stringify({ ...tried, check: 0 }).replace('"check":0', `"check":${body(json)}`);
    const trial = await textOf(server, '/server/v1/trials', { method: 'POST', body: text });
    expect(JSON.parse(trial)).toMatchObject({ decision: expected });
  }
  await server.policy({
    effect: 'deny',
    condition: earlier.replace(account, other),
    match: { tools: ['later'] },
  });
  const later = (json: string) => body(json).replace('"pay"', '"later"');
  expect((await server.ok('policies.check', { body: later('{}') })).decision).toBe('deny');
});

test.each([
  ['{"a":1,"a":2}', 'action.arguments.a', 'occurs twice in its object; send it once'],
  [
    '{"to":{"x":[{"id":1,"id":1}]}}',
    'action.arguments.to.x.0.id',
    'occurs twice in its object; send it once',
  ],
  [
    '{"a":9007199254740993.0}',
    'action.arguments.a',
    'has more digits than a number in JSON keeps; send it as a string',
  ],
])('refuses a check with %s, and names the field', async (json, path, message) => {
  const server = await testServer();
  for (const headers of [{}, { prefer: 'dry-run' }]) {
    const refused = await server.refused('policies.check', { body: body(json), headers });
    expect(refused).toMatchObject({ status: 400, code: 'VALIDATION_ERROR', details: [{ path, message }] });
  }
});

test('refuses a name that occurs twice in any other body but an event', async () => {
  const server = await testServer();
  const twice = '{"name":"a","effect":"allow","effect":"deny"}';
  expect((await server.refused('policies.create', { body: twice })).details[0]?.path).toBe('effect');
  const decide = { id: 'pac_x', body: '{"decision":"deny","decision":"approve"}' };
  expect((await server.refused('guardian.pendingActions.decide', decide)).status).toBe(400);
});
