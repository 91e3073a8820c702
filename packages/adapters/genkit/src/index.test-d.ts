import { dynamicTool, type Genkit, genkit, type MiddlewareRef, z } from 'genkit';
import { type GenkitBeta, genkit as genkitBeta } from 'genkit/beta';
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

test('an application keeps its type', () => {
  expectTypeOf(actlog(genkit({}))).toEqualTypeOf<Genkit>();
  expectTypeOf(actlog(genkitBeta({}), { agentId: 'support' })).toEqualTypeOf<GenkitBeta>();
});

test('the options are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[0]>().toEqualTypeOf<ActlogOptions | undefined>();
});

test('nothing else can be covered', () => {
  // @ts-expect-error -- tools are recorded by their generation
  actlog(weather);
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog({ ai: 1, guard: { mode: 'off' } });
});
