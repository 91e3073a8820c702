import { Service } from '@actlog/adapter-suite';
import { dynamicTool, type GenerateOptions, z } from 'genkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ai, modelOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

const address = 'kim.oduya@payments.example';
const other = 'treasury@northwind.example';
const account = 'DE89370400440532013000';

const send = dynamicTool(
  { name: 'send', description: 'Sends.', inputSchema: z.object({ to: z.string() }) },
  async () => 'Sent.',
);

const sending = (...to: string[]) => to.map((each) => ({ name: 'send', input: { to: each } }));

/** Generates in a session of this id, and returns the reported origins of the calls of `send`. */
async function origins(
  sessionId: string,
  turns: Parameters<typeof modelOf>[0],
  options: Partial<GenerateOptions> = {},
) {
  const use = [actlog({ recorder: service.recorder({ origins: true }) })];
  await ai.generate({
    ...modelOf(turns),
    ...(!options.messages && { prompt: 'go' }),
    tools: [send],
    context: { sessionId },
    use,
    ...options,
  });
  const reported = await service.argumentOrigins(sessionId, 'send');
  return reported.map((event) => event.origins.to);
}

test('reads the output of a tool, and the texts beside it', async () => {
  const find = dynamicTool({ name: 'find', description: 'Finds.' }, async () => ({
    content: [{ type: 'text', text: JSON.stringify({ account }) }],
  }));
  const several = ai.defineTool(
    { name: 'several', description: 'Finds more.', multipart: true } as never,
    async () =>
      ({
        output: { found: 1 },
        content: [{ text: `They are said to be at ${address} these days.` }],
      }) as never,
  );
  const turns = [[{ name: 'find', input: {} }], [{ name: 'several', input: {} }], sending(account, address)];
  expect(await origins('outputs', turns, { tools: [send, find, several] })).toMatchObject([
    { from: 'tool', as: 'field', toolName: 'find' },
    { from: 'tool', as: 'text', toolName: 'several' },
  ]);
});

test('knows the messages of a conversation, without documents that Genkit adds', async () => {
  const messages: GenerateOptions['messages'] = [
    { role: 'system', content: [{ text: 'Be brief.' }, { text: `Ask ${other}.` }] },
    { role: 'user', content: [{ text: `My account is ${account}.` }] },
    { role: 'model', content: [{ text: `I heard of ${address}.` }] },
    {
      role: 'user',
      content: [{ text: 'go' }, { text: `Context: ${address}`, metadata: { purpose: 'context' } }],
    },
  ];
  expect(
    await origins('conversation', [[], sending(account, other, address)], {
      messages,
      docs: [{ content: [{ text: `Invoices go to ${address}.` }] }],
    }),
  ).toEqual([{ from: 'user' }, { from: 'system' }, { from: 'model' }]);
});

test('does not take the prompt of a generation within a call for a text of the user', async () => {
  const use = [actlog({ recorder: service.recorder({ origins: true }) })];
  const ask = dynamicTool(
    { name: 'ask', description: 'Asks.', inputSchema: z.object({ request: z.string() }) },
    async ({ request }) =>
      (await ai.generate({ ...modelOf([sending(address)]), prompt: request, tools: [send], use })).text,
  );
  const turns = [[{ name: 'ask', input: { request: `Write to ${address}.` } }]];
  expect(await origins('nested', turns, { tools: [ask] })).toEqual([{ from: 'model' }]);
});
