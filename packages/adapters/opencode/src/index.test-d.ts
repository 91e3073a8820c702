import type { Hooks, Plugin } from '@opencode-ai/plugin';
import { expectTypeOf, test } from 'vitest';
import { type ActlogOptions, actlog } from './index.ts';

test('it is a plugin', () => {
  expectTypeOf(actlog).toExtend<Plugin>();
  expectTypeOf<Parameters<typeof actlog>[1]>().toEqualTypeOf<ActlogOptions | undefined>();
  const plugin: Plugin = (input) => actlog(input, { agentId: 'coder' });
  expectTypeOf(plugin).returns.resolves.toEqualTypeOf<Hooks>();
});

test('options are no first argument', () => {
  // @ts-expect-error -- opencode's input is missing
  void actlog({ agentId: 'coder' });
});
