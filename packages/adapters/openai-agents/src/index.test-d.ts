import { Agent, Runner, run, tool } from '@openai/agents';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { type ActlogOptions, actlog } from './index.ts';

const weather = tool({
  name: 'weather',
  description: 'The weather.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => city,
});

test('an agent and what it puts out keep the types that they have without', () => {
  const bare = new Agent<{ userId: string }, z.ZodObject<{ degrees: z.ZodNumber }>>({
    name: 'bare',
    tools: [weather],
    outputType: z.object({ degrees: z.number() }),
  });
  const recorded = actlog(bare);
  expectTypeOf(recorded).toEqualTypeOf<typeof bare>();
  const output = async () => (await run(recorded, 'go', { context: { userId: 'u' } })).finalOutput;
  expectTypeOf(output).returns.resolves.toEqualTypeOf<{ degrees: number } | undefined>();
});

test('a runner stays a runner', () => {
  expectTypeOf(actlog(new Runner())).toEqualTypeOf<Runner>();
});

test('an install covers the process, and returns the function that ends that', () => {
  expectTypeOf(actlog.install()).toEqualTypeOf<() => void>();
  expectTypeOf(actlog.install({ agentId: 'support' })).toEqualTypeOf<() => void>();
  expectTypeOf(actlog).parameter(1).toEqualTypeOf<ActlogOptions | undefined>();
});

test('nothing else can be covered', () => {
  // @ts-expect-error -- tools are recorded by their agent
  actlog(weather);
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog({ agent: 1, guard: { mode: 'off' } });
});
