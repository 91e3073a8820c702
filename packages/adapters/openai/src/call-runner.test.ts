import { randomUUID } from 'node:crypto';
import { Service } from '@actlog/adapter-suite';
import { hashArguments } from '@actlog/recorder';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const chatCall = (name: string, text: string) => ({
  id: `call_${name}`,
  type: 'function' as const,
  function: { name, arguments: text },
});
const requesting = (...tool_calls: object[]) => ({ tool_calls: tool_calls as ReturnType<typeof chatCall>[] });

test('returns results in the order of the calls, as JSON, and none without calls', async () => {
  const order = Promise.withResolvers<string>();
  const runCalls = actlog.callRunner(
    {
      first: () => order.promise,
      second: () => {
        order.resolve('first');
        return { ok: true };
      },
      nothing: () => undefined,
    },
    { recorder: service.recorder(), sessionId: 'order' },
  );
  const calls = [chatCall('first', '{}'), chatCall('second', ''), chatCall('nothing', '{}')];
  expect(await runCalls(requesting(...calls))).toEqual([
    { role: 'tool', tool_call_id: 'call_first', content: 'first' },
    { role: 'tool', tool_call_id: 'call_second', content: '{"ok":true}' },
    { role: 'tool', tool_call_id: 'call_nothing', content: '' },
  ]);
  expect(await runCalls({ choices: [{ message: requesting() }] })).toEqual([]);
  expect(await service.events('order')).toHaveLength(3);
});

test('runs methods, which use their object', async () => {
  const functions = {
    name: () => 'Ada',
    greet() {
      return `Hello, ${this.name()}!`;
    },
  };
  const runCalls = actlog.callRunner(functions, { recorder: service.recorder(), sessionId: 'methods' });
  const [result] = await runCalls(requesting(chatCall('greet', '{}')));
  expect(result?.content).toBe('Hello, Ada!');
});

test('reports arguments that are not JSON to the model, and records them unchanged', async () => {
  const runCalls = actlog.callRunner(
    { echo: () => 'ran' },
    { recorder: service.recorder(), sessionId: 'no-json' },
  );
  const [result] = await runCalls(requesting(chatCall('echo', '{broken')));
  expect(result?.content).toBe('Error: The arguments are not JSON.');
  const [event] = await service.storedEvents('no-json');
  expect(event?.payload).toMatchObject({
    responseStatus: 400,
    argumentsHash: await hashArguments('{broken'),
  });
});

test('does not run a truncated call with either API', async () => {
  const ran: unknown[] = [];
  const adapter = { recorder: service.recorder(), sessionId: 'cut-off' };
  const runCalls = actlog.callRunner((args) => String(ran.push(args)), adapter);
  const sql = { id: 'c1', type: 'custom', custom: { name: 'sql', input: 'delete from users' } };
  const message = requesting(chatCall('whole', '{}'), sql);
  const choice = { message, finish_reason: 'length' };
  for (const output of [choice, { choices: [choice] }]) {
    const [whole, cutOff] = await runCalls(output);
    expect(whole?.content).not.toMatch('Error');
    expect(cutOff?.content).toBe('Error: The call was truncated.');
  }
  const whole = { type: 'custom_tool_call', call_id: 'c2', name: 'sql', input: 'select 1' };
  const begun = { type: 'function_call', call_id: 'c3', name: 'remove_all', arguments: '' };
  for (const status of ['incomplete', 'completed']) await runCalls({ status, output: [whole, begun] });
  const unfinished = { ...begun, status: 'incomplete' };
  await runCalls({ output: [unfinished] });
  expect(ran).toEqual([{}, {}, 'select 1', 'select 1', {}]);
  const events = await service.events('cut-off');
  expect(events.map(({ toolName, status }) => `${toolName} ${status}`).sort()).toEqual([
    'remove_all 200',
    'remove_all 400',
    'remove_all 400',
    'sql 200',
    'sql 200',
    'sql 400',
    'sql 400',
    'whole 200',
    'whole 200',
  ]);
});

test('records a result that is not JSON-serializable as a failure', async () => {
  const round: Record<string, unknown> = {};
  round.self = round;
  const runCalls = actlog.callRunner(
    { echo: () => round },
    { recorder: service.recorder(), sessionId: 'round' },
  );
  const [result] = await runCalls(requesting(chatCall('echo', '{}')));
  expect(result?.content).toMatch(/^Error: Converting circular structure to JSON/);
  expect(await service.events('round')).toMatchObject([{ toolName: 'echo', status: 500 }]);
});

test("accepts one function for all tools, with the call's context", async () => {
  const heard: unknown[] = [];
  const signal = new AbortController().signal;
  const run = (args: unknown, context: object) => heard.push({ args, ...context });
  const runCalls = actlog.callRunner(run, {
    recorder: service.recorder(),
    sessionId: 'one',
    exclude: ['left'],
  });
  await runCalls(requesting(chatCall('any', '{"a":1}'), chatCall('left', '{}')), { signal });
  expect(heard).toEqual([
    { args: { a: 1 }, callId: 'call_any', toolName: 'any', signal },
    { args: {}, callId: 'call_left', toolName: 'left', signal },
  ]);
  expect(await service.events('one')).toMatchObject([{ toolName: 'any' }]);
  const call = { type: 'function_call', call_id: 'c', name: 'left', namespace: 'crm', arguments: '{}' };
  await runCalls({ output: [call] });
  expect(heard.at(-1)).toMatchObject({ toolName: 'left', namespace: 'crm' });
});

test('passes the text to custom tools with either API', async () => {
  const runCalls = actlog.callRunner(
    { sql: (text: string) => `ran ${text}` },
    { recorder: service.recorder(), sessionId: 'custom' },
  );
  const custom = { id: 'c1', type: 'custom', custom: { name: 'sql', input: 'select 1' } };
  expect(await runCalls(requesting(custom))).toEqual([
    { role: 'tool', tool_call_id: 'c1', content: 'ran select 1' },
  ]);
  const item = { type: 'custom_tool_call', call_id: 'c2', name: 'sql', input: 'select 2' };
  expect(await runCalls({ output: [item] })).toEqual([
    { type: 'custom_tool_call_output', call_id: 'c2', output: 'ran select 2' },
  ]);
  const hashes = (await service.storedEvents('custom')).map(({ payload }) => payload?.argumentsHash);
  expect(hashes).toEqual([await hashArguments('select 1'), await hashArguments('select 2')]);
});

test('records calls run by OpenAI once', async () => {
  const runCalls = actlog.callRunner({}, { recorder: service.recorder(), exclude: ['file_search'] });
  const shell = { type: 'shell_call', call_id: 'sh1', action: { commands: ['ls'] } };
  const response = {
    conversation: { id: 'conv_1' },
    output: [
      { type: 'mcp_list_tools', id: 'l1', server_label: 'tracker', tools: [] },
      {
        type: 'web_search_call',
        id: 'w1',
        status: 'completed',
        action: { type: 'search', query: 'weather' },
      },
      {
        type: 'mcp_call',
        id: 'm1',
        name: 'find',
        server_label: 'tracker',
        arguments: '{"id":7}',
        error: 'no',
      },
      { type: 'file_search_call', id: 'f1', status: 'completed', queries: ['q'], results: null },
      { type: 'image_generation_call', id: 'i1', status: 'failed', result: null },
      shell,
      { type: 'shell_call_output', call_id: 'sh1', output: [] },
      { ...shell, call_id: 'sh2' },
      { ...shell, call_id: 'sh3' },
      { type: 'shell_call_output', call_id: 'sh3', output: [{ outcome: { type: 'exit', exit_code: 1 } }] },
      { type: 'message', id: 'msg', role: 'assistant', content: [] },
    ],
  };
  expect(await runCalls(response)).toEqual([]);
  await runCalls(response);
  const other = { recorder: service.recorder(), sessionId: 'conv_1-other' };
  await actlog.callRunner({}, other)(response);
  expect(await service.events(other.sessionId)).toHaveLength(6);
  expect(await service.events('conv_1')).toMatchObject([
    { toolName: 'web_search', status: 200 },
    { toolName: 'find', status: 500 },
    { toolName: 'image_generation', status: 500 },
    { toolName: 'shell', status: 200 },
    { toolName: 'shell', status: 500 },
  ]);
  const hashes = (await service.storedEvents('conv_1')).map(({ payload }) => payload?.argumentsHash);
  expect(hashes.slice(0, 2)).toEqual([
    await hashArguments({ action: { type: 'search', query: 'weather' } }),
    await hashArguments({ id: 7 }),
  ]);
});

test('uses the given conversation as the session', async () => {
  const runCalls = actlog.callRunner(
    { echo: () => 'ran' },
    { recorder: service.recorder(), agentId: 'given' },
  );
  const messages = [{ role: 'user', content: 'go' }];
  await runCalls(requesting(chatCall('echo', '{}')), { messages });
  await runCalls(requesting(chatCall('echo', '{}')), { messages: [...messages, { role: 'assistant' }] });
  await runCalls(requesting(chatCall('echo', '{}')), { messages: [{ role: 'user', content: 'go' }] });
  await service.events('none');
  const sessions = await service.client.agents.sessions('given').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([1, 2]);
});

test('uses one session for continued responses with incremental requests', async () => {
  const runCalls = actlog.callRunner(
    { echo: () => 'ran' },
    { recorder: service.recorder(), agentId: 'goes-on' },
  );
  const output = [{ type: 'function_call', call_id: 'c', name: 'echo', arguments: '{}' }];
  for (const input of [[{ role: 'user', content: 'go' }], [{ role: 'user', content: 'go' }], 'go']) {
    let messages: unknown = input;
    let previous_response_id: string | null = null;
    for (let turn = 0; turn < 3; turn += 1) {
      const id = `resp_${randomUUID()}`;
      messages = await runCalls({ id, previous_response_id, output }, { messages });
      previous_response_id = id;
    }
  }
  await service.events('none');
  const sessions = await service.client.agents.sessions('goes-on').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([3, 3, 3]);
});

test("passes only the denial's message to the model", async () => {
  const { policies } = service.client;
  const { id } = await policies.create({
    name: 'no',
    effect: 'deny',
    match: { tools: ['pay'] },
    message: 'No.',
  });
  const runCalls = actlog.callRunner(
    { pay: () => 'paid' },
    { recorder: service.guarded(), sessionId: 'denied' },
  );
  const call = { type: 'function_call', call_id: 'c', name: 'pay', arguments: '{}' };
  const [result] = await runCalls({ output: [call] });
  await policies.archive(id);
  expect(result?.output).toMatch(/^The call of the tool "pay" was not run: .*No\..*tell the user\.$/);
});

test("throws a function's error after the caller has aborted", async () => {
  const controller = new AbortController();
  const runCalls = actlog.callRunner(
    {
      slow: () => {
        controller.abort();
        throw new Error('cut off');
      },
    },
    { recorder: service.recorder(), sessionId: 'given-up' },
  );
  const results = runCalls(requesting(chatCall('slow', '{}')), { signal: controller.signal });
  await expect(results).rejects.toThrow('cut off');
  expect(await service.events('given-up')).toMatchObject([{ status: 499 }]);
});
