import { Agent } from '@mastra/core/agent';
import type { ObservabilityExporter } from '@mastra/core/observability';
import { createTool, type ToolHooks } from '@mastra/core/tools';
import { createStep } from '@mastra/core/workflows';
import { Observability } from '@mastra/observability';
import { expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { type ActlogOptions, actlog } from './index.ts';

const weather = createTool({
  id: 'weather',
  description: 'The weather.',
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 20 }),
});

const settings = {
  id: 'a',
  name: 'A',
  instructions: 'x',
  model: 'openai/gpt-5',
  tools: { weather },
} as const;

test('the hooks are those of an agent and of a run', () => {
  expectTypeOf(actlog()).toEqualTypeOf<ToolHooks>();
  expectTypeOf(actlog.around({ afterToolCall: () => {} })).toEqualTypeOf<ToolHooks>();
  const bare = new Agent(settings);
  const agent = new Agent({ ...settings, hooks: actlog() });
  expectTypeOf(agent).toEqualTypeOf(bare);
  expectTypeOf(agent.generate).parameter(1).not.toBeNever();
});

test('wrapped tools are of the types that they were, for agents, steps and calls by hand', () => {
  const tools = { weather };
  expectTypeOf(actlog.tools(tools)).toEqualTypeOf(tools);
  const wrapped = actlog.tools({ weather });
  expectTypeOf(createStep(wrapped.weather)).toEqualTypeOf(createStep(weather));
  expectTypeOf(new Agent({ ...settings, tools: wrapped })).toEqualTypeOf(
    new Agent({ ...settings, tools: { weather } }),
  );
  // @ts-expect-error a number is no tool
  actlog.tools({ weather: 5 });
});

test('the exporter is one for Observability, and takes no guard', () => {
  expectTypeOf(actlog.exporter()).toEqualTypeOf<ObservabilityExporter>();
  new Observability({ configs: { default: { serviceName: 's', exporters: [actlog.exporter()] } } });
  // @ts-expect-error an exporter cannot guard
  actlog.exporter({ guard: { mode: 'observe' } });
});

test('the process is covered until the returned function is called', () => {
  expectTypeOf(actlog.install()).toEqualTypeOf<() => void>();
  expectTypeOf(actlog.install).parameter(0).toEqualTypeOf<ActlogOptions | undefined>();
});

test('the options are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[0]>().toEqualTypeOf<ActlogOptions | undefined>();
});

test('options are no first argument', () => {
  // @ts-expect-error -- it has its own place for options
  actlog.around({ guard: { mode: 'off' } });
});
