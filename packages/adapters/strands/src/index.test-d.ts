import { Agent, type InterventionHandler, type InvokableTool, tool } from '@strands-agents/sdk';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { type ActlogOptions, actlog } from './index.ts';

const weather = tool({
  name: 'weather',
  inputSchema: z.object({ city: z.string() }),
  callback: ({ city }) => ({ city, degrees: 20 }),
});

test('actlog() is an intervention', () => {
  expectTypeOf(actlog()).toExtend<InterventionHandler>();
  new Agent({ tools: [weather], interventions: [actlog()] });
});

test('wrapped tools keep their order and their types', () => {
  const [wrapped] = actlog.tools([weather]);
  expectTypeOf(wrapped).toEqualTypeOf<typeof weather>();
  expectTypeOf(wrapped).toExtend<InvokableTool<{ city: string }, { city: string; degrees: number }>>();
  expectTypeOf(actlog.tools([weather])).toEqualTypeOf<[typeof weather]>();
});

test('the options are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[0]>().toEqualTypeOf<ActlogOptions | undefined>();
});

test('an install takes the same options, and returns the function that ends it', () => {
  expectTypeOf(actlog.install).parameter(0).toEqualTypeOf<ActlogOptions | undefined>();
  expectTypeOf(actlog.install).returns.toEqualTypeOf<() => void>();
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog.tools([{ guard: { mode: 'off' } }]);
});
