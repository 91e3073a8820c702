import OpenAI from 'openai';
import { zodFunction } from 'openai/helpers/zod';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { actlog } from './index.ts';

const client = new OpenAI({ apiKey: 'none' });
const weather = zodFunction({
  name: 'weather',
  parameters: z.object({ city: z.string() }),
  function: ({ city }) => city,
});
const repeat = {
  type: 'function' as const,
  function: {
    name: 'repeat',
    description: 'Says it again.',
    parameters: { type: 'object' as const },
    parse: (text: string) => JSON.parse(text) as { text: string },
    function: ({ text }: { text: string }) => text,
  },
};

test('wrapped tools keep their order and their types, and runTools takes them', () => {
  expectTypeOf(actlog([weather, repeat])).toEqualTypeOf<[typeof weather, typeof repeat]>();
  const body = { model: 'm', messages: [{ role: 'user' as const, content: 'go' }] };
  const run = () => client.chat.completions.runTools({ ...body, tools: actlog([repeat]) });
  const bare = () => client.chat.completions.runTools({ ...body, tools: [repeat] });
  expectTypeOf(run).returns.toEqualTypeOf<ReturnType<typeof bare>>();
  const byZod = () => client.chat.completions.runTools({ ...body, tools: actlog([weather]) });
  expectTypeOf(byZod).returns.toEqualTypeOf<ReturnType<typeof bare>>();
});

test('tools may stand where they are used', () => {
  client.chat.completions.runTools({
    model: 'm',
    messages: [],
    tools: actlog([
      {
        type: 'function',
        function: {
          name: 'now',
          description: 'Says the time.',
          parameters: { type: 'object' },
          function: async (text) => `now ${text}`,
        },
      },
    ]),
  });
});

test('results are accepted by the API that requested the calls', async () => {
  const runCalls = actlog.callRunner({ weather: ({ city }: { city: string }) => city });
  const completion = await client.chat.completions.create({ model: 'm', messages: [] });
  expectTypeOf(await runCalls(completion)).toExtend<ChatCompletionMessageParam[]>();
  const response = await client.responses.create({ model: 'm', input: 'go' });
  expectTypeOf(await runCalls(response)).toExtend<ResponseInputItem[]>();
});

test('results extend the conversation without conversion', async () => {
  const runCalls = actlog.callRunner({ weather: ({ city }: { city: string }) => city });
  const messages: ChatCompletionMessageParam[] = [];
  const { choices } = await client.chat.completions.create({ model: 'm', messages });
  for (const { message } of choices) messages.push(message, ...(await runCalls(message, { messages })));
  for (const choice of choices) messages.push(choice.message, ...(await runCalls(choice, { messages })));
  const input: ResponseInputItem[] = [];
  const response = await client.responses.create({ model: 'm', input });
  const outputs = await runCalls(response, { messages: input });
  client.responses.create({ model: 'm', input: outputs, previous_response_id: response.id });
});

test('nothing but tools can be recorded', () => {
  // @ts-expect-error -- a client is not a list of tools
  actlog(client);
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog([{ guard: { mode: 'off' } }]);
});
