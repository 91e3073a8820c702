import { mcpErrorResult, refusalOf, refusedPaths, refusedStatuses, Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { agentOf, modelOf, pi, type Tool, textTool, toolResultsOf, tools } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
  await service.denyTool('fail', 'Never fail.');
  await service.holdTool('pay');
});
afterAll(() => service.close());

const echo = { name: 'echo', args: { text: 'x' } };
const fail = { name: 'fail', args: { text: 'x' } };

/** Returns the recorded calls of a session as lines, such as `echo 200`. */
async function lines(sessionId: string): Promise<string[]> {
  return (await service.callLines(sessionId)).map((line) => line.replace('tester ', ''));
}

test("records a call that the application's hook blocks as denied, and checks the arguments that it changes", async () => {
  const heard: unknown[] = [];
  const show: Tool = {
    ...textTool('show', (text) => `shown: ${text}`),
    execute: async (_id, params) => ({
      content: [{ type: 'text', text: JSON.stringify(params) }],
      details: {},
    }),
  };
  const agent = agentOf([[echo, { name: 'show', args: { text: 'y' } }]], [tools().echo, show], {
    beforeToolCall: async ({ toolCall, args }) => {
      if (toolCall.name === 'echo') return { block: true, reason: 'Not now.' };
      (args as { text: string }).text = 'changed';
      return undefined;
    },
    afterToolCall: async ({ toolCall, result, isError }) => {
      heard.push([toolCall.name, isError]);
      return { content: [...result.content, { type: 'text', text: ' and checked' }] };
    },
  });
  await actlog(agent, { recorder: service.guarded(), sessionId: 'own-hooks' }).prompt('go');
  expect(toolResultsOf(agent.state.messages)).toEqual([
    { text: 'Not now.', isError: true },
    { text: '{"text":"changed"} and checked', isError: false },
  ]);
  expect(heard).toEqual([['show', false]]);
  expect(await lines('own-hooks')).toEqual(['echo 403', 'show 200']);
});

test('hooks that the application sets later see a denial as the error of the tool', async () => {
  const heard: unknown[] = [];
  const { fail: failing, ran } = tools();
  const agent = actlog(agentOf([[fail]], [failing]), { recorder: service.guarded(), sessionId: 'later' });
  agent.afterToolCall = async ({ isError, result }) => {
    heard.push(isError, result.content);
    return undefined;
  };
  await agent.prompt('go');
  expect(ran).toEqual([]);
  expect(heard).toEqual([true, [{ type: 'text', text: expect.stringContaining('Never fail.') }]]);
});

test('records arguments that prepareArguments refuses, and calls that are cut off, as invalid', async () => {
  const strict: Tool = {
    ...textTool('strict', () => 'never'),
    prepareArguments: () => {
      throw new TypeError('no text');
    },
  };
  const { echo: said, ran } = tools();
  const cutOff: typeof streamFn = async (...args) => {
    const stream = await streamFn(...args);
    const message = await stream.result();
    const isCall = message.content.some(({ type }) => type === 'toolCall');
    if (isCall) message.stopReason = 'length';
    return stream;
  };
  const streamFn = modelOf([[echo]]);
  const recorder = service.recorder();
  await actlog(agentOf([[{ name: 'strict', args: {} }]], [strict]), { recorder, sessionId: 'strict' }).prompt(
    'go',
  );
  await actlog(agentOf([], [said], { streamFn: cutOff }), { recorder, sessionId: 'cut-off' }).prompt('go');
  expect(await lines('strict')).toEqual(['strict 400']);
  // Older versions run such calls.
  expect(await lines('cut-off')).toEqual([ran.length === 0 ? 'echo 400' : 'echo 200']);
});

test('records error results, also those of MCP servers', async () => {
  const read: Tool = {
    ...textTool('read', String),
    parameters: { type: 'object', properties: {} },
    execute: async (_id, params) => ({
      ...mcpErrorResult(refusalOf((params as { path: string }).path)),
      details: {},
    }),
  };
  const calls = refusedPaths.map((path) => [{ name: 'read', args: { path } }]);
  const agent = actlog(agentOf(calls, [read]), { recorder: service.recorder(), sessionId: 'refused' });
  await agent.prompt('go');
  expect((await service.events('refused')).map(({ status }) => status)).toEqual(refusedStatuses);
});

test('a held call does not keep its siblings waiting, and progress and results pass unchanged', async () => {
  const ran: string[] = [];
  const pay = textTool('pay', () => ran.push('pay'));
  const slow: Tool = {
    ...textTool('slow', String),
    execute: async (_id, _params, _signal, onUpdate) => {
      onUpdate?.({ content: [{ type: 'text', text: 'half' }], details: { part: 1 } });
      ran.push('slow');
      await service.decide('held', 'approve');
      return { content: [{ type: 'text', text: 'all' }], details: { part: 2 } };
    },
  };
  const heard: unknown[] = [];
  const call = (name: string) => ({ name, args: { text: 'x' } });
  const agent = actlog(agentOf([[call('pay'), call('slow')]], [pay, slow]), {
    recorder: service.guarded(),
    sessionId: 'held',
  });
  agent.subscribe((event) => {
    if (event.type === 'tool_execution_update') heard.push(event.partialResult.details);
    if (event.type === 'tool_execution_end') heard.push([event.toolName, event.result.details]);
  });
  await agent.prompt('go');
  expect(ran).toEqual(['slow', 'pay']);
  expect(heard).toEqual([{ part: 1 }, ['slow', { part: 2 }], ['pay', {}]]);
});

test('covers tools that are added or replaced later, and keeps the properties of all', async () => {
  const { echo: said, fail: failing, ran } = tools();
  const agent = agentOf([[echo], [], [fail], [], [echo]], [said]);
  actlog(agent, { recorder: service.guarded(), sessionId: 'added' });
  await agent.prompt('go');
  agent.state.tools.push(failing);
  await agent.prompt('go');
  agent.state.tools = [textTool('echo', () => 'replaced')];
  await agent.prompt('go');
  expect(ran).toEqual(['echo x']);
  expect(toolResultsOf(agent.state.messages).map(({ text }) => text)).toEqual([
    'echo: x',
    expect.stringContaining('Never fail.'),
    'replaced',
  ]);
  expect(await lines('added')).toEqual(['echo 200', 'fail 403', 'echo 200']);
  expect(agent.state.tools[0]).toMatchObject({ name: 'echo', label: 'echo', description: 'The tool echo.' });
});

test('wraps tools for a loop without an agent', async () => {
  const { echo: said, fail: failing, ran } = tools();
  const options = { recorder: service.guarded(), sessionId: 'loop', exclude: ['other'] };
  const other = textTool('other', String);
  const wrapped = actlog.tools([said, failing, other], options);
  expect(wrapped[2]).toBe(other);
  const user = { role: 'user' as const, content: 'go', timestamp: 0 };
  const context = { systemPrompt: '', messages: [], tools: wrapped };
  const model = { provider: 'scripted' } as never;
  const convertToLlm = (messages: readonly unknown[]) => messages as never;
  const stream = pi.agentLoop([user], context, { model, convertToLlm }, undefined, modelOf([[echo, fail]]));
  expect(toolResultsOf(await stream.result())).toEqual([
    { text: 'echo: x', isError: false },
    { text: expect.stringContaining('Never fail.'), isError: true },
  ]);
  expect(ran).toEqual(['echo x']);
  expect((await lines('loop')).sort()).toEqual(['echo 200', 'fail 403']);
});
