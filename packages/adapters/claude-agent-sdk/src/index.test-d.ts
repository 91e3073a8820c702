import { type Options, query } from '@anthropic-ai/claude-agent-sdk';
import { expectTypeOf, test } from 'vitest';
import { type ActlogOptions, actlog } from './index.ts';

test('options are options, of the same type', () => {
  expectTypeOf(actlog()).toExtend<Options>();
  const given = { model: 'claude-sonnet-4-5', allowedTools: ['Read'] } satisfies Options;
  expectTypeOf(actlog(given)).toEqualTypeOf<typeof given>();
  expectTypeOf(query).toBeCallableWith({ prompt: 'go', options: actlog({ allowedTools: ['Read'] }) });
});

test('what is no option is none here either', () => {
  // @ts-expect-error such a permission mode does not exist
  actlog({ permissionMode: 'whatever' });
});

test('the settings are those of every adapter', () => {
  expectTypeOf<Parameters<typeof actlog>[1]>().toEqualTypeOf<ActlogOptions | undefined>();
});

test('settings are second', () => {
  // @ts-expect-error -- settings are second
  actlog({ model: 'claude-sonnet-4-5', guard: { mode: 'enforce', onUnavailable: 'deny' } });
  actlog({ sessionId: '5f0c1a52-62c4-4a3f-9d1f-3c8e4b1f0a77' });
});
