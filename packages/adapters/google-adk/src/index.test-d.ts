import { type BasePlugin, InMemoryRunner, LlmAgent } from '@google/adk';
import { expectTypeOf, test } from 'vitest';
import { type ActlogOptions, actlog } from './index.ts';

test('actlog() is a plugin', () => {
  expectTypeOf(actlog()).toExtend<BasePlugin>();
  new InMemoryRunner({ agent: new LlmAgent({ name: 'tester' }), plugins: [actlog()] });
});

test('the options are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[0]>().toEqualTypeOf<ActlogOptions | undefined>();
});

test('install() returns a function that ends the coverage', () => {
  expectTypeOf(actlog.install).returns.toEqualTypeOf<() => void>();
  expectTypeOf(actlog.install).parameter(0).toEqualTypeOf<ActlogOptions | undefined>();
});
