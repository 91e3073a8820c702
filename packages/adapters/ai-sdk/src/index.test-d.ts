import { generateText, type InferUITools, streamText, type Telemetry, ToolLoopAgent, tool } from 'ai';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { modelOf } from '../tests/model.ts';
import { type ActlogTelemetry, actlog, type EndedStep } from './index.ts';

const tools = {
  weather: tool({
    inputSchema: z.object({ city: z.string(), days: z.number().default(1) }),
    execute: async ({ city, days }) => ({ city, days, sunny: true }),
  }),
  countdown: tool({
    inputSchema: z.object({ from: z.number() }),
    async *execute({ from }) {
      for (let left = from; left > 0; left -= 1) yield { left };
    },
  }),
  askUser: tool({ inputSchema: z.object({ question: z.string() }), outputSchema: z.string() }),
};
const model = modelOf([]);

test('the tools keep their types', () => {
  expectTypeOf(actlog(tools)).toEqualTypeOf<typeof tools>();
  expectTypeOf<InferUITools<ReturnType<typeof actlog<typeof tools>>>>().toEqualTypeOf<
    InferUITools<typeof tools>
  >();
});

test('what is made of them keeps its types', async () => {
  const bare = await generateText({ model, prompt: 'go', tools });
  const recorded = await generateText({ model, prompt: 'go', tools: actlog(tools) });
  expectTypeOf(recorded).toEqualTypeOf<typeof bare>();
  const bareStream = streamText({ model, prompt: 'go', tools });
  expectTypeOf(streamText({ model, prompt: 'go', tools: actlog(tools) })).toEqualTypeOf<typeof bareStream>();
  const bareAgent = new ToolLoopAgent({ model, tools });
  expectTypeOf(new ToolLoopAgent({ model, tools: actlog(tools) })).toEqualTypeOf<typeof bareAgent>();
});

test('tools that are written in place are inferred', async () => {
  const { toolResults } = await generateText({
    model,
    prompt: 'go',
    tools: actlog({
      double: tool({ inputSchema: z.object({ of: z.number() }), execute: async ({ of }) => of * 2 }),
    }),
  });
  for (const result of toolResults) if (!result.dynamic) expectTypeOf(result.output).toEqualTypeOf<number>();
});

test('the other forms fit where they belong, and say that they guard nothing', async () => {
  expectTypeOf(actlog.telemetry()).toExtend<Telemetry>();
  await generateText({ model, prompt: 'go', tools, onStepFinish: actlog.steps(), onStepEnd: actlog.steps() });
  // @ts-expect-error -- a guard needs a hook that can stop the call
  actlog.telemetry({ guard: { mode: 'enforce' } });
  // @ts-expect-error -- the same
  actlog.steps({ guard: { mode: 'enforce' } });
});

test('what they give has a name, so that it can be exported where declarations are written', () => {
  expectTypeOf(actlog.telemetry()).toEqualTypeOf<ActlogTelemetry>();
  expectTypeOf(actlog.steps()).toEqualTypeOf<(step: EndedStep) => void>();
});

test('options are second, and a tool may be named like one', () => {
  // @ts-expect-error -- options are second
  actlog({ guard: { mode: 'enforce', onUnavailable: 'deny' } });
  // @ts-expect-error -- the same
  actlog({ ...tools, sessionId: () => 'ticket' });
  actlog({ guard: tools.weather });
});
