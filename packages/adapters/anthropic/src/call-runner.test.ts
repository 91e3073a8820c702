import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { toolUse, webSearch } from '../tests/model.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const functions = {
  echo: ({ text }: { text: string }) => `echo: ${text}`,
  fail: () => {
    throw Object.assign(new Error('it broke'), { status: 502 });
  },
};

test('returns undefined for a message without calls', async () => {
  const runCalls = actlog.callRunner(functions, { recorder: service.recorder(), sessionId: 'nothing' });
  expect(await runCalls({ content: [{ type: 'text', text: 'done' }] })).toBeUndefined();
  expect(await service.events('nothing')).toEqual([]);
});

test.each(['max_tokens', 'refusal', 'pause_turn', null])(
  "does not run calls of a message that ended with %s, like the SDK's tool runner",
  async (stop_reason) => {
    const recorder = service.recorder();
    const ran: unknown[] = [];
    const adapter = { recorder, sessionId: `ended-by-${stop_reason}` };
    const runCalls = actlog.callRunner((use) => String(ran.push(use)), adapter);
    const content = [...webSearch('b', []), toolUse('echo', {})];
    expect(await runCalls({ content, stop_reason })).toBeUndefined();
    expect(ran).toEqual([]);
    expect(await service.events(adapter.sessionId)).toMatchObject([{ toolName: 'web_search', status: 200 }]);
    expect(await runCalls({ content: [toolUse('echo', {})], stop_reason: 'tool_use' })).toBeDefined();
  },
);

test('returns the results of all calls in order, whatever their outcomes', async () => {
  const runCalls = actlog.callRunner(functions, { recorder: service.recorder(), sessionId: 'all' });
  const calls = [toolUse('fail', {}), toolUse('toString', {}), toolUse('echo', { text: 'a' })];
  const [search, found] = webSearch('b', []);
  const results = await runCalls({ content: [search, found, ...calls] });
  expect(results).toEqual({
    role: 'user',
    content: [
      { type: 'tool_result', tool_use_id: calls[0]?.id, content: 'Error: it broke', is_error: true },
      {
        type: 'tool_result',
        tool_use_id: calls[1]?.id,
        content: "Error: Tool 'toString' not found",
        is_error: true,
      },
      { type: 'tool_result', tool_use_id: calls[2]?.id, content: 'echo: a' },
    ],
  });
  const seen = (await service.events('all')).map(({ toolName, status }) => `${toolName} ${status}`);
  expect(seen.sort()).toEqual(['echo 200', 'fail 502', 'toString 404', 'web_search 200']);
});

test('accepts one function for all tools', async () => {
  const content = [{ type: 'text' as const, text: 'a' }];
  const call = { ...toolUse('navigate', { url: 'a' }, 'toolu_1'), toolset_name: 'browser' };
  const runCalls = actlog.callRunner((use, context) => (use === context.toolUse ? content : []), {
    recorder: service.recorder(),
    sessionId: 'one-function',
  });
  expect(await runCalls({ content: [call] })).toEqual({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: 'toolu_1', toolset_name: 'browser', content }],
  });
  expect(await service.events('one-function')).toMatchObject([{ toolName: 'navigate', status: 200 }]);
});

test('rejects with the abort reason while a call is held', async () => {
  const { policies } = service.client;
  const match = { tools: ['echo'] };
  const { id } = await policies.create({ name: 'ask', effect: 'require_approval', match });
  const runCalls = actlog.callRunner(functions, { recorder: service.guarded(), sessionId: 'given-up' });
  const controller = new AbortController();
  const results = runCalls({ content: [toolUse('echo', { text: 'a' })] }, { signal: controller.signal });
  await service.held('given-up');
  controller.abort(new Error('the user left'));
  await expect(results).rejects.toThrow('the user left');
  await policies.archive(id);
  expect(await service.events('given-up')).toMatchObject([{ status: 499 }]);
});

test("passes only the denial's message to the model", async () => {
  const { policies } = service.client;
  const { id } = await service.denyTool('echo');
  const runCalls = actlog.callRunner(functions, { recorder: service.guarded(), sessionId: 'denied' });
  const results = await runCalls({ content: [toolUse('echo', { text: 'a' })] });
  await policies.archive(id);
  expect(results?.content).toMatchObject([
    { content: expect.stringMatching(/^The call of the tool "echo" was not run/), is_error: true },
  ]);
});

test('derives the session from the messages', async () => {
  const recorder = service.recorder({ agentId: 'told' });
  const runCalls = actlog.callRunner(functions, { recorder });
  const call = () => ({ content: [toolUse('echo', { text: 'a' })] });
  const messages = [{ role: 'user', content: 'go' }];
  await runCalls(call(), { messages });
  await runCalls(call(), { messages: [...messages, { role: 'user', content: 'go on' }] });
  await runCalls(call(), { messages: [{ role: 'user', content: 'go' }] });
  await recorder.flush();
  const sessions = await service.client.agents.sessions('told').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount).sort()).toEqual([1, 2]);
});

test('counts a reused id once per conversation', async () => {
  const recorder = service.recorder({ agentId: 'same-id' });
  const runCalls = actlog.callRunner(functions, { recorder });
  const message = { content: [toolUse('echo', { text: 'a' }, 'toolu_0')] };
  for (let conversation = 0; conversation < 2; conversation += 1) {
    await runCalls(message, { messages: [{ role: 'user', content: 'go' }] });
  }
  await recorder.session('same-id-named').run(() => runCalls(message));
  await recorder.flush();
  const sessions = await service.client.agents.sessions('same-id').toArray({ limit: 10 });
  expect(sessions.map(({ eventCount }) => eventCount)).toEqual([1, 1, 1]);
  expect(await service.events('same-id-named')).toHaveLength(1);
});

test('runs, but does not record, an excluded tool', async () => {
  const runCalls = actlog.callRunner(functions, {
    recorder: service.recorder(),
    sessionId: 'out',
    exclude: ['echo'],
  });
  const results = await runCalls({ content: [toolUse('echo', { text: 'a' })] });
  expect(results?.content).toMatchObject([{ content: 'echo: a' }]);
  expect(await service.events('out')).toEqual([]);
});
