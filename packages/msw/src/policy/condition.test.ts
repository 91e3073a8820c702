import { expect, test } from 'vitest';
import { conditionHolds, refuseBadCondition } from './condition.ts';

test.each([
  ['action.toolName ==', 'cannot be taken'],
  ['action.toolName', 'must be true or false'],
  ['nobody.id == "a"', 'cannot be taken'],
  ['action.toolName.matches("a+")', 'matches() is not available'],
  ['["a"].all(x, ["b"].exists(y, x == y))', 'must not stand inside another comprehension'],
])('refuses %s', (condition, problem) => {
  expect(() => refuseBadCondition(condition)).toThrow(problem);
});

test('reads what an action says of itself', () => {
  const action = { toolName: 'pay', argumentsHash: 'h', arguments: { amount: 5 } };
  const check = { agentId: 'bot', action, environment: 'production' };
  const condition = 'agent.id == "bot" && session.id == "" && environment == "production" && args.amount < 6';
  refuseBadCondition(condition);
  expect(conditionHolds(condition, check)).toBe(true);
  expect(() => conditionHolds('args.nothing > 1', check)).toThrow();
});
