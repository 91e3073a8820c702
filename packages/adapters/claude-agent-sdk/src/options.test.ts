import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'beside the model',
    () => actlog({ model: 'claude-sonnet-4-5', guard } as never),
    /^guard has no effect .*options: actlog\(\{ model \}, \{ guard \}\)/,
  ],
  ['alone', () => actlog({ agentId: 'support' } as never), /^agentId has no effect in the first argument/],
  [
    'as a function',
    () => actlog({ sessionId: () => 'ticket' } as never),
    /^sessionId has no effect in the first argument/,
  ],
  ['without a guard around them', () => actlog({}, guard as never), /^"mode" is not an option/],
])('refuses options in the wrong place, %s', (_place, call, message) => {
  expect(call).toThrow(message);
});

test("accepts the query's own session id", () => {
  const sessionId = '5f0c1a52-62c4-4a3f-9d1f-3c8e4b1f0a77';
  expect(actlog({ sessionId })).toMatchObject({ sessionId });
});
