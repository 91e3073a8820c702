import { expect, test } from 'vitest';
import { checkedAction } from './checked-action.ts';

test('it is the action of the body, with what the body names', () => {
  const named = { agentId: 'bot', sessionId: 's-1', framework: 'mastra', environment: 'production' };
  const shown = { toolName: 'pay', argumentsHash: 'sha256:aa', arguments: { amount: 5 } };
  expect(checkedAction({ ...named, action: shown, actionId: 'a-1' })).toEqual({ ...named, ...shown });
});

test('without shown arguments there are none to read', () => {
  const action = { toolName: 'pay', argumentsHash: 'sha256:aa' };
  expect(checkedAction({ agentId: 'bot', action })).toEqual({ agentId: 'bot', ...action, arguments: {} });
});

test('arguments beyond the bound are left out', () => {
  const action = { toolName: 'pay', argumentsHash: 'sha256:aa', arguments: { text: 'a'.repeat(40_000) } };
  const { arguments: shown, toolName } = checkedAction({ agentId: 'bot', action });
  expect(shown).toBeUndefined();
  expect(toolName).toBe('pay');
});
