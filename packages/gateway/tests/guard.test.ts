import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseExactJson } from '@actlog/recorder/adapter';
import { expect, test } from 'vitest';
import { RawGateway, testServer, textOf } from './raw-gateway.ts';
import { serviceOfFile } from './service.ts';

const { service, open, archive } = await serviceOfFile();

const guard = ['--guard', 'enforce', '--on-unavailable', 'deny'];

/** Starts a guarded gateway for an agent in front of a server that writes what it receives to a file. */
async function start(agent: string, options: readonly string[] = [], env: Record<string, string> = {}) {
  const received = join(service.newFolder(), 'received');
  const server = testServer('scripted-server.ts', received);
  const gateway = RawGateway.start(service.environment(env), server, [...guard, ...options]);
  open.push(gateway);
  await gateway.initialize(agent);
  const seen = () => (existsSync(received) ? readFileSync(received, 'utf8') : '');
  return { gateway, seen };
}

test('denies a call with a result that the model can read, and does not forward it', async () => {
  archive.push(await service.policy('deny', ['fail'], { message: 'Ask the database team.' }));
  const { gateway, seen } = await start('denied');
  gateway.call(1, 'fail', { secret: 's3cret' });
  const denied = await gateway.message(({ id }) => id === 1);
  expect(denied.result?.isError).toBe(true);
  expect(textOf(denied)).toContain('"fail" was not run: it was denied by policy "deny fail" (pol_');
  expect(textOf(denied)).toContain('Ask the database team.');
  gateway.call('1', 'echo', { text: 'a' });
  expect((await gateway.message(({ id }) => id === '1')).result?.isError).toBeUndefined();
  expect(seen()).not.toContain('s3cret');
  expect(gateway.stderr).not.toContain('s3cret');
  expect(await service.calls('denied', 2)).toMatchObject([
    { toolName: 'fail', status: 403 },
    { toolName: 'echo', status: 200 },
  ]);
});

test('holds a call until it is approved, notifies the client, and lets other messages pass meanwhile', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const { gateway, seen } = await start('held');
  gateway.call(1, 'echo', { text: 'waits' }, { _meta: { progressToken: 'p' } });
  const progress = await gateway.message(({ method }) => method === 'notifications/progress');
  expect(progress.params).toMatchObject({ progressToken: 'p', message: 'Waiting for approval.' });
  gateway.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await gateway.message(({ id }) => id === 2);
  expect(seen()).not.toContain('waits');
  await service.approve('held');
  const response = await gateway.message(({ id }) => id === 1);
  expect(textOf(response)).toBe('{"text":"waits"}');
  expect(await service.calls('held', 1)).toMatchObject([{ toolName: 'echo', status: 200 }]);
});

test('forwards a call with exactly the arguments that an approver changed, and tells the model', async () => {
  const editable = [
    { path: 'order.amount', min: 1 },
    { path: 'paths', subset: true },
  ] as const;
  const approval = { timeoutSeconds: 60, onTimeout: 'deny', editable } as const;
  archive.push(await service.policy('require_approval', ['echo'], { approval }));
  const { gateway, seen } = await start('changed', ['--show-arguments']);
  const params = (amount: string, paths: string) =>
    `"params":{"name":"echo","arguments":{"order":{"id":1917043659912705297, "amount":${amount}},"paths":${paths},"note":"\\u00e9"}}`;
  const line = (text: string) => `{"jsonrpc":"2.0","id":1,"method":"tools/call",${text}}`;
  gateway.write(`${line(params('1917043659912705297', '["a","b","c"]'))}\n`);
  const { id } = await service.held('changed');
  const changes = parseExactJson('{"order.amount":1917043659912705296,"paths":["a","c"]}');
  await service.approve('changed', changes as Record<string, unknown>);
  const response = await gateway.message((message) => message.id === 1);
  expect(seen()).toContain(line(params('1917043659912705296', '["a","c"]')));
  expect(JSON.stringify(response.result)).toContain(
    'the person who approved this call changed its arguments',
  );
  const [call] = await service.calls('changed', 1);
  expect(call).toMatchObject({ toolName: 'echo', status: 200 });
  const [held] = await service.client.guardian.pendingActions
    .list({ agentId: 'changed', status: 'approved' })
    .toArray({ limit: 1 });
  expect(held).toMatchObject({ id, executedHash: expect.stringMatching(/^sha256:/) });
});

test('runs a call whose changed arguments were approved after its client had given up', async () => {
  const approval = { timeoutSeconds: 60, onTimeout: 'deny', editable: [{ path: 'n', max: 9 }] } as const;
  archive.push(await service.policy('require_approval', ['echo'], { approval }));
  const { gateway, seen } = await start('later', ['--hold-seconds', '0', '--show-arguments']);
  gateway.call(1, 'echo', { n: 8 });
  await gateway.message(({ id }) => id === 1);
  await service.approve('later', { n: 3 });
  gateway.call(2, 'echo', { n: 8 });
  const response = await gateway.message(({ id }) => id === 2);
  expect(textOf(response)).toContain('{"n":3}');
  expect(seen()).not.toContain('"n":8');
});

test('says that approval is pending, and runs the same call when it is approved later, once', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const { gateway, seen } = await start('pending', ['--hold-seconds', '0']);
  gateway.call(1, 'echo', { n: 1 });
  const pending = await gateway.message(({ id }) => id === 1);
  expect(pending.result?.isError).toBe(true);
  expect(textOf(pending)).toMatch(
    /was not run yet: it needs a person's approval under policy "require_approval echo" \(pol_\w+\), which is pending \(pending action /,
  );
  expect(textOf(pending)).toContain('call the tool again with the same arguments once it is approved');
  await service.approve('pending');
  gateway.call(2, 'echo', { n: 2 });
  expect(textOf(await gateway.message(({ id }) => id === 2))).toContain('pending');
  gateway.call(3, 'echo', { n: 1 });
  expect(textOf(await gateway.message(({ id }) => id === 3))).toBe('{"n":1}');
  gateway.call(4, 'echo', { n: 1 });
  expect(textOf(await gateway.message(({ id }) => id === 4))).toContain('pending');
  expect(seen().match(/"n":1/g)).toHaveLength(1);
});

test('never runs a held call that the client cancels, even if it is approved', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const { gateway, seen } = await start('canceled');
  gateway.call(1, 'echo', { text: 'never' });
  await service.held('canceled');
  gateway.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } });
  expect(await service.calls('canceled', 1)).toMatchObject([{ toolName: 'echo', status: 499 }]);
  await service.approve('canceled');
  gateway.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await gateway.message(({ id }) => id === 2);
  expect(seen()).not.toContain('never');
  expect(seen()).not.toContain('cancelled');
  expect(gateway.lines.some((line) => JSON.parse(line).id === 1)).toBe(false);
});

test('never runs a held call of a client that is gone', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const { gateway, seen } = await start('gone');
  gateway.call(1, 'echo', { text: 'never' });
  await service.held('gone');
  expect(await gateway.end()).toEqual({ code: 0, signal: null });
  expect(await service.calls('gone', 1)).toMatchObject([{ toolName: 'echo', status: 499 }]);
  expect(seen()).not.toContain('never');
});

test('passes the cancellation of a running call, and records it as canceled or timed out', async () => {
  const { gateway, seen } = await start('running');
  gateway.call(1, 'silent');
  gateway.call(2, 'silent');
  await expect.poll(() => seen().match(/silent/g)).toHaveLength(2);
  const cancel = (requestId: number, reason: string) =>
    gateway.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId, reason } });
  cancel(1, 'User requested cancellation');
  cancel(2, 'McpError: MCP error -32001: Request timed out');
  const calls = await service.calls('running', 2);
  expect(calls.map(({ status }) => status).sort()).toEqual([408, 499]);
  await expect.poll(() => seen().match(/notifications\/cancelled/g)).toHaveLength(2);
});

test('forwards the allowed part of a batch, and adds the denials to its response', async () => {
  archive.push(await service.policy('deny', ['fail']));
  const { gateway, seen } = await start('batch');
  const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } });
  gateway.write(
    `[${JSON.stringify(call(1, 'fail'))}, ${JSON.stringify(call(2, 'echo'))},{"jsonrpc":"2.0","id":3.0,"method":"ping"}]\n`,
  );
  await gateway.message(({ id }) => id === 1);
  const batch = gateway.lines.map((line) => JSON.parse(line)).find(Array.isArray);
  expect(batch?.map(({ id }: { id: number }) => id)).toEqual([2, 3, 1]);
  expect(batch?.[2].result.isError).toBe(true);
  expect(seen()).toContain(
    `[${JSON.stringify(call(2, 'echo'))},{"jsonrpc":"2.0","id":3.0,"method":"ping"}]\n`,
  );
  gateway.send([call(4, 'fail'), call(5, 'fail')]);
  await gateway.message(({ id }) => id === 5);
  expect(gateway.lines.map((line) => JSON.parse(line)).filter(Array.isArray)[1]).toHaveLength(2);
  expect(await service.calls('batch', 4)).toHaveLength(4);
});

test('drops a denied call that was sent as a notification, and records an allowed one as accepted', async () => {
  archive.push(await service.policy('deny', ['fail']));
  const { gateway, seen } = await start('notification');
  for (const name of ['fail', 'echo'])
    gateway.send({ jsonrpc: '2.0', method: 'tools/call', params: { name } });
  const calls = await service.calls('notification', 2);
  expect(calls.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
    'echo 202',
    'fail 403',
  ]);
  await expect.poll(seen).toContain('"echo"');
  expect(seen()).not.toContain('"fail"');
});

test('reports a denied task with an error, because its result has no place for a text', async () => {
  archive.push(await service.policy('deny', ['echo']));
  const { gateway } = await start('task');
  gateway.call(1, 'echo', {}, { task: { ttl: 1000 } });
  const { error } = await gateway.message(({ id }) => id === 1);
  expect(error).toMatchObject({ code: -32603, message: expect.stringContaining('was denied by policy') });
});

test.each([
  [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"fail"}}',
    'has the member \\"method\\" twice',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"METHOD":"tools/call","params":{"name":"fail"}}',
    'has the member \\"METHOD\\" in another case',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","Name":"fail"}}',
    'has the member \\"Name\\"',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":["fail"]}}',
    'has no params.name that is a string',
  ],
  [
    '{"x":\r{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail"}}\r}',
    'contains a carriage return',
  ],
  [
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"fail","arguments":{"n":NaN}}}',
    'is not JSON',
  ],
])('does not forward a message that a server may read in another way: %s', async (line, problem) => {
  const { gateway, seen } = await start('ambiguous');
  gateway.write(`${line}\n`);
  await gateway.until(() => gateway.lines.some((received) => received.includes(problem)));
  gateway.send({ jsonrpc: '2.0', id: 2, method: 'ping' });
  await gateway.message(({ id }) => id === 2);
  expect(seen()).not.toContain('fail');
});

test('uses the name of the client as agent and one session for the connection, and hashes the arguments', async () => {
  const { gateway } = await start('names', ['--tool-prefix', 'files.']);
  gateway.call(1, 'echo', { a: 1 });
  await gateway.message(({ id }) => id === 1);
  gateway.call(2, 'missing');
  await gateway.message(({ id }) => id === 2);
  gateway.call(3, 'fail');
  await gateway.message(({ id }) => id === 3);
  gateway.call(4, 'reject');
  await gateway.message(({ id }) => id === 4);
  const calls = await service.calls('names', 4);
  expect(calls.map(({ toolName, status }) => `${toolName} ${status}`)).toEqual([
    'files.echo 200',
    'files.missing 404',
    'files.fail 500',
    'files.reject 400',
  ]);
  expect(new Set(calls.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(calls[0]?.argumentsHash).toMatch(/^[a-z0-9-]+:[0-9a-f]{64}$/);
});

test.each([
  ['allow', undefined],
  ['deny', true],
])(
  'lets --on-unavailable %s decide while the service is unreachable, and keeps the record',
  async (decision, isError) => {
    const address = await service.closedAddress();
    const env = service.environment({ ACTLOG_BASE_URL: address.url });
    const options = ['--guard', 'enforce', '--on-unavailable', decision];
    const gateway = RawGateway.start(env, testServer('scripted-server.ts'), options);
    const agent = `unreachable-${decision}`;
    await gateway.initialize(agent);
    gateway.call(1, 'echo');
    const response = await gateway.message(({ id }) => id === 1);
    expect(response.result?.isError).toBe(isError);
    expect((await gateway.end()).code).toBe(0);
    // The next gateway with the same spool folder delivers it.
    address.open();
    const next = RawGateway.start(env, testServer('scripted-server.ts'));
    await next.initialize('next');
    next.call(1, 'echo');
    const status = decision === 'allow' ? 200 : 403;
    expect(await service.calls(agent, 1)).toMatchObject([{ toolName: 'echo', status }]);
    await next.end();
    address.close();
  },
);

test('approves a number with its own digits, and no other that is equal as a double', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const { gateway, seen } = await start('digits', ['--hold-seconds', '0', '--show-arguments=ad']);
  const callWith = (id: number, digits: string) =>
    gateway.write(
      `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"echo","arguments":{"ad":${digits},"text":"t"}}}\n`,
    );
  callWith(1, '1917043659912705297');
  await gateway.message(({ id }) => id === 1);
  await service.approve('digits');
  callWith(2, '1917043659912705298');
  expect((await gateway.message(({ id }) => id === 2)).result?.isError).toBe(true);
  expect(seen()).not.toContain('1917043659912705298');
  callWith(3, '1917043659912705297');
  expect((await gateway.message(({ id }) => id === 3)).result?.isError).toBeUndefined();
  expect(seen()).toContain('"ad":1917043659912705297');
  const [first, second, third] = await service.calls('digits', 3);
  expect(first?.argumentsHash).toBe(third?.argumentsHash);
  expect(first?.argumentsHash).not.toBe(second?.argumentsHash);
});

test('shows the approver the chosen arguments', async () => {
  archive.push(await service.policy('require_approval', ['echo']));
  const { gateway } = await start('shown', ['--hold-seconds', '0', '--show-arguments=path']);
  gateway.call(1, 'echo', { path: '/etc/passwd', text: 's3cret' });
  await gateway.message(({ id }) => id === 1);
  expect((await service.held('shown')).action?.arguments).toEqual({ path: '/etc/passwd' });
});
