import { Service } from '@actlog/adapter-suite';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const account = 'DE89370400440532013000';
const address = 'kim.oduya@payments.example';
const functions = {
  send: () => 'Sent.',
  read: () => [{ type: 'text', text: JSON.stringify({ address }) }],
};

function callRunnerIn(sessionId: string) {
  return actlog.callRunner(functions, { recorder: service.recorder({ origins: true }), sessionId });
}

function chatCalls(...calls: readonly (readonly [name: string, args: object])[]) {
  const tool_calls = calls.map(([name, args], index) => ({
    id: `call_${index}`,
    type: 'function' as const,
    function: { name, arguments: JSON.stringify(args) },
  }));
  return { tool_calls };
}

/** Returns the origins of the argument `to` of the calls of `send`. */
async function originsOf(sessionId: string) {
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map(({ origins }) => origins.to);
}

test('sees text parts of the user and the developer, and nothing that the model said', async () => {
  const messages = [
    { role: 'developer', content: [{ type: 'text', text: 'Questions go to treasury@northwind.example.' }] },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'https://pictures.example/1' } },
        { type: 'text', text: `Pay ${account}.` },
      ],
    },
    { role: 'assistant', content: `I ask ${address}.` },
  ];
  const sent = [account, 'treasury@northwind.example', address];
  for (const to of sent) await callRunnerIn('parts')(chatCalls(['send', { to }]), { messages });
  expect(await originsOf('parts')).toEqual([{ from: 'user' }, { from: 'system' }, { from: 'model' }]);
});

test('sees an input that is a text, and instructions that are messages', async () => {
  const runCalls = callRunnerIn('responses');
  const call = (to: string) => ({
    type: 'function_call',
    call_id: `call_${to}`,
    name: 'send',
    arguments: JSON.stringify({ to }),
  });
  const instructions = [
    { type: 'message', role: 'developer', content: 'Questions go to treasury@northwind.example.' },
  ];
  const response = { output: [call(account), call('treasury@northwind.example')], instructions };
  await runCalls(response, { messages: `Pay ${account}.` });
  const reported = await originsOf('responses');
  expect(reported).toHaveLength(2);
  expect(reported).toEqual(expect.arrayContaining([{ from: 'user' }, { from: 'system' }]));
});

test('without messages, knows results only', async () => {
  const runCalls = callRunnerIn('unseen');
  await runCalls(chatCalls(['read', {}]));
  await runCalls(chatCalls(['send', { to: address }]));
  await runCalls(chatCalls(['send', { to: account }]));
  expect(await originsOf('unseen')).toMatchObject([
    { from: 'tool', as: 'field', toolName: 'read' },
    { from: 'model' },
  ]);
});

test('does not take the messages of an inner loop, written by a model, for texts of the user', async () => {
  const recorder = service.recorder({ origins: true });
  const inner = actlog.callRunner(functions, { recorder });
  const outer = actlog.callRunner(
    {
      delegate: async ({ task }: { task: string }) => {
        const messages = [{ role: 'user', content: task }];
        await inner(chatCalls(['send', { to: account }]), { messages });
        return 'Delegated.';
      },
    },
    { recorder, sessionId: 'inner' },
  );
  const messages = [{ role: 'user', content: 'go' }];
  await outer(chatCalls(['delegate', { task: `Pay ${account}.` }]), { messages });
  expect(await originsOf('inner')).toEqual([{ from: 'model' }]);
});

test('finds a value in the output of a tool that OpenAI ran', async () => {
  const runCalls = callRunnerIn('hosted');
  const output = [
    {
      type: 'mcp_call',
      id: 'mcp_1',
      name: 'lookup',
      arguments: '{}',
      output: JSON.stringify({ address }),
      status: 'completed',
    },
    { type: 'function_call', call_id: 'call_1', name: 'send', arguments: JSON.stringify({ to: address }) },
  ];
  await runCalls({ output });
  expect(await originsOf('hosted')).toMatchObject([{ from: 'tool', as: 'field', toolName: 'lookup' }]);
});

test('leaves the agent alone when the messages cannot be read', async () => {
  const message = {
    role: 'user',
    get content(): string {
      throw new Error('unreadable');
    },
  };
  const [result] = await callRunnerIn('unreadable')(chatCalls(['send', { to: account }]), {
    messages: [message],
  });
  expect(result?.content).toBe('Sent.');
  expect(await originsOf('unreadable')).toEqual([{ from: 'model' }]);
});
