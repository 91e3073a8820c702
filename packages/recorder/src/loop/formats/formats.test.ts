import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { actlog, type RunCalls } from '../index.ts';

let service: Service;
let runCalls: RunCalls;
const ran: unknown[] = [];
beforeAll(async () => {
  service = await Service.start();
  const run = (args: unknown, { toolName }: { toolName: string }) => {
    ran.push({ [toolName]: args });
    if (toolName === 'fail') throw new Error('it broke');
    return 'ran';
  };
  runCalls = actlog(run, { recorder: service.recorder(), sessionId: 'formats' });
});
beforeEach(() => {
  ran.length = 0;
});
afterAll(() => service.close());

const chatCall = (name: string, args: string) => ({
  id: `call_${name}`,
  type: 'function',
  function: { name, arguments: args },
});

test('runs the calls of Chat Completions: a response, a choice and a message', async () => {
  const message = { role: 'assistant', tool_calls: [chatCall('a', '{"x":1}'), chatCall('fail', '')] };
  for (const output of [message, { message }, { choices: [{ message }] }]) {
    expect(await runCalls(output)).toEqual([
      { role: 'tool', tool_call_id: 'call_a', content: 'ran' },
      { role: 'tool', tool_call_id: 'call_fail', content: 'Error: it broke' },
    ]);
  }
  expect(ran.slice(-2)).toEqual([{ a: { x: 1 } }, { fail: {} }]);
});

test('runs the calls of Ollama, whose newer versions have ids', async () => {
  const tool_calls = [{ function: { name: 'a', arguments: { x: 1 } } }];
  expect(await runCalls({ message: { tool_calls } })).toEqual([
    { role: 'tool', tool_name: 'a', content: 'ran' },
  ]);
  expect(await runCalls({ tool_calls: tool_calls.map((call) => ({ ...call, id: 'c1' })) })).toEqual([
    { role: 'tool', tool_name: 'a', tool_call_id: 'c1', content: 'ran' },
  ]);
  expect(ran).toEqual([{ a: { x: 1 } }, { a: { x: 1 } }]);
});

test('runs the calls of the clients of Mistral and Cohere', async () => {
  const toolCalls = [{ id: 'c1', function: { name: 'a', arguments: '{"x":1}' } }];
  for (const output of [
    { toolCalls },
    { message: { toolCalls } },
    { choices: [{ message: { toolCalls } }] },
  ]) {
    expect(await runCalls(output)).toEqual([{ role: 'tool', toolCallId: 'c1', name: 'a', content: 'ran' }]);
  }
});

test('runs the calls of Bedrock with one message, without the tools that Bedrock runs', async () => {
  const content = [
    { text: 'Let me see.' },
    { toolUse: { toolUseId: 't1', name: 'a', input: { x: 1 } } },
    { toolUse: { toolUseId: 't2', name: 'search', input: {}, type: 'server_tool_use' } },
    { toolUse: { toolUseId: 't3', name: 'fail', input: '{"streamed":true}' } },
  ];
  const message = { role: 'assistant', content };
  for (const output of [message, { output: { message }, stopReason: 'tool_use' }]) {
    expect(await runCalls(output)).toEqual([
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 't1', content: [{ text: 'ran' }], status: 'success' } },
          { toolResult: { toolUseId: 't3', content: [{ text: 'Error: it broke' }], status: 'error' } },
        ],
      },
    ]);
  }
  expect(ran.slice(-2)).toEqual([{ a: { x: 1 } }, { fail: { streamed: true } }]);
});

test('runs the calls of Gemini: a response, the JSON of one, and a content', async () => {
  const functionCall = { id: 'c1', name: 'a', args: { x: 1 } };
  const content = { role: 'model', parts: [{ text: 'Let me see.' }, { functionCall }] };
  for (const output of [{ functionCalls: [functionCall] }, { candidates: [{ content }] }, content]) {
    expect(await runCalls(output)).toEqual([
      { role: 'user', parts: [{ functionResponse: { id: 'c1', name: 'a', response: { output: 'ran' } } }] },
    ]);
  }
});

test('does not run the last call of an output that was cut off', async () => {
  const toolUse = (name: string) => ({ toolUse: { toolUseId: name, name, input: {} } });
  const tool_calls = [chatCall('whole', '{}'), chatCall('cut', '{}')];
  const content = [toolUse('whole'), toolUse('cut')];
  const parts = ['whole', 'cut'].map((name) => ({ functionCall: { name } }));
  const outputs = [
    { choices: [{ message: { tool_calls }, finish_reason: 'length' }] },
    { choices: [{ message: { toolCalls: tool_calls }, finishReason: 'length' }] },
    { message: { tool_calls: [...tool_calls] }, done_reason: 'length' },
    { output: { message: { role: 'assistant', content } }, stopReason: 'max_tokens' },
    { candidates: [{ content: { parts }, finishReason: 'MAX_TOKENS' }] },
  ];
  for (const output of outputs) {
    const results = await runCalls(output as never);
    expect(JSON.stringify(results)).toContain('Error: The call was truncated.');
  }
  expect(ran).toEqual(outputs.map(() => ({ whole: {} })));
});

test('returns nothing for outputs without calls', async () => {
  const outputs = [
    [],
    { role: 'assistant', content: 'done' },
    { role: 'assistant', content: null, tool_calls: [] },
    { role: 'assistant', content: 'done', toolCalls: null },
    { choices: [{ message: { role: 'assistant', content: 'done' } }] },
    { message: { role: 'assistant', content: 'done' }, done_reason: 'stop' },
    { output: { message: { role: 'assistant', content: [{ text: 'done' }] } }, stopReason: 'end_turn' },
    { candidates: [{ content: { role: 'model', parts: [{ text: 'done' }] } }] },
    { promptFeedback: { blockReason: 'SAFETY' } },
  ];
  for (const output of outputs) expect(await runCalls(output as never)).toEqual([]);
});

test('refuses an output that it cannot read', async () => {
  for (const output of [undefined, null, 'text', {}, { toolCall: {} }]) {
    await expect(runCalls(output as never)).rejects.toThrow('actlog: the output has no known format.');
  }
});

test('refuses the calls of APIs that other packages read', async () => {
  const content = [{ type: 'tool_use', id: 'toolu_1', name: 'a', input: {} }];
  const output = [{ type: 'function_call', call_id: 'c1', name: 'a', arguments: '{}' }];
  for (const [response, adapter] of [
    [{ role: 'assistant', content, stop_reason: 'tool_use' }, '@actlog/anthropic'],
    [{ id: 'resp_1', output }, '@actlog/openai'],
  ] as const) {
    await expect(runCalls(response as never)).rejects.toThrow(`actlog.callRunner(functions) of ${adapter}.`);
  }
  expect(ran).toEqual([]);
});
