import type Anthropic from '@anthropic-ai/sdk';
import type { ClientOptions } from '@anthropic-ai/sdk';
import { betaZodTool } from '@anthropic-ai/sdk/helpers/beta/zod';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { actlog } from './index.ts';

declare const client: Anthropic;

const weather = betaZodTool({
  name: 'weather',
  description: 'Tells the weather.',
  inputSchema: z.object({ city: z.string() }),
  run: async ({ city }) => `sunny in ${city}`,
});
const search = { type: 'web_search_20250305', name: 'web_search' } as const;
const request = { model: 'claude', max_tokens: 1, messages: [] };

test('wrapped tools keep their order and their types', () => {
  expectTypeOf(actlog([weather, search])).toEqualTypeOf<[typeof weather, typeof search]>();
  const list = [weather, weather];
  expectTypeOf(actlog(list)).toEqualTypeOf<typeof list>();
});

test('a tool runner takes them, those written in place too', () => {
  const run = (tools: typeof weather) => client.beta.messages.toolRunner({ ...request, tools: [tools] });
  expectTypeOf(
    client.beta.messages.toolRunner({ ...request, tools: actlog([weather, search]) }),
  ).toEqualTypeOf<ReturnType<typeof run>>();
  client.beta.messages.toolRunner({
    ...request,
    tools: actlog([
      { type: 'web_search_20250305', name: 'web_search', allowed_domains: ['example.com'] },
      {
        name: 'plain',
        input_schema: { type: 'object', required: ['a'] },
        run: () => 'a',
        parse: (input) => input,
      },
    ]),
  });
});

test('results are messages, also of the beta API', async () => {
  const runCalls = actlog.callRunner({
    weather: ({ city }: { city: string }) => `sunny in ${city}`,
    both: async (_input, { toolUse, signal }) => {
      expectTypeOf(toolUse.id).toEqualTypeOf<string>();
      expectTypeOf(signal).toEqualTypeOf<AbortSignal | undefined>();
      return 'both';
    },
  });
  const message = await client.messages.create(request);
  const results = await runCalls(message, { messages: request.messages });
  if (!results) return;
  expectTypeOf(results).toExtend<Anthropic.MessageParam>();
  expectTypeOf(results).toExtend<Anthropic.Beta.BetaMessageParam>();
  const blocks = actlog.callRunner(() => [{ type: 'text' as const, text: 'a' }]);
  expectTypeOf<NonNullable<Awaited<ReturnType<typeof blocks>>>>().toExtend<Anthropic.MessageParam>();
  // @ts-expect-error -- this is no content of a tool result
  const noContent: Anthropic.MessageParam | undefined = await actlog.callRunner(() => 5)(message);
  expectTypeOf(noContent).not.toBeAny();
});

test('a middleware guards nothing, and its options say so', () => {
  expectTypeOf([actlog.middleware()]).toExtend<NonNullable<ClientOptions['middleware']>>();
  // @ts-expect-error -- a guard needs a hook that can stop the call
  actlog.middleware({ guard: { mode: 'enforce' } });
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog([{ guard: { mode: 'off' } }]);
});
