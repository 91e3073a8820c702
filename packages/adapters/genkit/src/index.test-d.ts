import { dynamicTool, type Genkit, type MiddlewareRef, z } from 'genkit';
import { expectTypeOf, test } from 'vitest';
import { type ActlogOptions, actlog } from './index.ts';

const weather = dynamicTool(
  {
    name: 'weather',
    description: 'Tells the weather.',
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.object({ degrees: z.number() }),
  },
  async () => ({ degrees: 20 }),
);

test('actlog() is a middleware, and what is generated keeps its type', () => {
  expectTypeOf(actlog()).toExtend<MiddlewareRef>();
  const generate = (ai: Genkit) => {
    const output = { schema: z.object({ warm: z.boolean() }) };
    return ai.generate({ prompt: 'Warm?', tools: [weather], output, use: [actlog()] });
  };
  expectTypeOf<Awaited<ReturnType<typeof generate>>['output']>().toEqualTypeOf<{ warm: boolean } | null>();
});

test('the options are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[0]>().toEqualTypeOf<ActlogOptions | undefined>();
});
