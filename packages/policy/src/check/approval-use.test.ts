import { expect, test } from 'vitest';
import { approvalRepeatMs, isUsedUp } from './approval-rules.ts';

test.each([
  ['the same check at the end of the repeat window', 'a', 'a', approvalRepeatMs, false],
  ['the same check later', 'a', 'a', approvalRepeatMs + 1, true],
  ['another check', 'a', 'b', 0, true],
  ['a check without an actionId', 'a', undefined, 0, true],
  ['any check after one without an actionId', null, 'a', 0, true],
  ['a repeat of a check without an actionId', null, undefined, 0, true],
])('isUsedUp with %s: %#', (_, usedBy, actionId, laterMs, expected) => {
  expect(isUsedUp({ actionId: usedBy, usedMs: 1000 }, actionId, 1000 + laterMs)).toBe(expected);
});
