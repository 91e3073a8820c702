import { type AgentMiddleware, createAgent, tool } from 'langchain';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { modelOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

const weather = tool(({ city }) => city, { name: 'weather', schema: z.object({ city: z.string() }) });

test('actlog() is a middleware, and the agent keeps the types that it has without', () => {
  expectTypeOf(actlog()).toExtend<AgentMiddleware>();
  const bare = createAgent({ model: modelOf([]), tools: [weather] });
  const recorded = createAgent({ model: modelOf([]), tools: [weather], middleware: [actlog()] });
  type Result<Agent extends { invoke: (...args: never[]) => unknown }> = Awaited<ReturnType<Agent['invoke']>>;
  expectTypeOf<Result<typeof recorded>['messages']>().toEqualTypeOf<Result<typeof bare>['messages']>();
});

test('wrapped tools keep their order and their types', () => {
  expectTypeOf(actlog.tools([weather])).toEqualTypeOf<[typeof weather]>();
});

test('a handler guards nothing, and its options say so', () => {
  // @ts-expect-error -- a guard needs a hook that can stop the call
  actlog.handler({ guard: { mode: 'enforce' } });
});
