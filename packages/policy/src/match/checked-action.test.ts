import { expect, test } from 'vitest';
import { checkedAction } from './checked-action.ts';

test('combines the action with the other fields of the body', () => {
  const named = { agentId: 'bot', sessionId: 's-1', framework: 'mastra', environment: 'production' };
  const shown = {
    toolName: 'pay',
    argumentsHash: 'sha256:aa',
    arguments: { amount: 5 },
    origins: { amount: { from: 'user' } },
  } as const;
  expect(checkedAction({ ...named, action: shown, actionId: 'a-1' })).toEqual({ ...named, ...shown });
});

test('uses an empty object if no arguments are shown', () => {
  const action = { toolName: 'pay', argumentsHash: 'sha256:aa' };
  expect(checkedAction({ agentId: 'bot', action })).toEqual({ agentId: 'bot', ...action, arguments: {} });
});

test('omits arguments that exceed the limit', () => {
  const action = { toolName: 'pay', argumentsHash: 'sha256:aa', arguments: { text: 'a'.repeat(40_000) } };
  const { arguments: shown, toolName } = checkedAction({ agentId: 'bot', action });
  expect(shown).toBeUndefined();
  expect(toolName).toBe('pay');
});
