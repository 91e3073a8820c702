import { RunnableLambda } from '@langchain/core/runnables';
import { ToolNode } from '@langchain/langgraph/prebuilt';
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

test('every kind of tool that a graph takes can be wrapped', () => {
  const ofText = tool((text: string) => text, { name: 'of_text', description: 'Takes a text.' });
  const runnable = RunnableLambda.from(({ city }: { city: string }) => city).asTool({
    name: 'runnable',
    schema: z.object({ city: z.string() }),
  });
  const wrapped = actlog.tools([ofText, runnable]);
  expectTypeOf(wrapped).toEqualTypeOf<[typeof ofText, typeof runnable]>();
  new ToolNode(wrapped);
});

test('a handler guards nothing, and its options say so', () => {
  // @ts-expect-error -- a guard needs a hook that can stop the call
  actlog.handler({ guard: { mode: 'enforce' } });
});

test('an install returns the function that ends it, and leaves errors to the framework', () => {
  expectTypeOf(actlog.install()).toEqualTypeOf<() => void>();
  actlog.install({ agentId: 'support', guard: { mode: 'enforce' } });
  // @ts-expect-error -- errors stay as they are
  actlog.install({ onToolError: 'throw' });
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog.tools([{ guard: { mode: 'off' } }]);
});
