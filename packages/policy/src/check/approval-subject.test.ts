import { expect, test } from 'vitest';
import { approvalSubject } from './held-action.ts';

function subject(shown: Record<string, unknown> | undefined): string {
  return approvalSubject({
    sessionId: 's',
    action: { toolName: 'refund', argumentsHash: 'sha256:aa', ...(shown && { arguments: shown }) },
  });
}

test('ignores the order of members', () => {
  expect(subject({ a: 1, b: { c: [1, { d: 2, e: 3 }] } })).toBe(
    subject({ b: { c: [1, { e: 3, d: 2 }] }, a: 1 }),
  );
});

test('ignores the origins of arguments', () => {
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa', arguments: { amount: 1 } };
  const origins = { amount: { from: 'tool', as: 'text' } } as const;
  expect(approvalSubject({ sessionId: 's', action: { ...action, origins } })).toBe(subject({ amount: 1 }));
});

test.each<[string, Record<string, unknown> | undefined, Record<string, unknown> | undefined]>([
  ['a number', { amount: 1 }, { amount: 1_000_000 }],
  ['a type', { amount: 1 }, { amount: '1' }],
  ['the presence of shown arguments', undefined, {}],
  ['the order of a list', { to: ['a', 'b'] }, { to: ['b', 'a'] }],
  ['a list of entries in place of an object', { a: { b: 1 } }, { a: [['b', 1]] }],
  ['an object with an empty name', { a: { b: 1 } }, { a: { '': [['b', 1]] } }],
  ['an additional member', { a: 1 }, { a: 1, b: null }],
])('distinguishes %s', (_what, one, other) => {
  expect(subject(one)).not.toBe(subject(other));
});

test('distinguishes subagents and the agents above, whatever the arguments and the principal', () => {
  const action = { toolName: 'refund', argumentsHash: 'sha256:aa' };
  const place = { subagent: 'a', parentAgentIds: ['b'] };
  const subjects = [
    approvalSubject({ sessionId: 's', action }),
    approvalSubject({ sessionId: 's', action, parentAgentIds: [] }),
    approvalSubject({ sessionId: 's', action, subagent: 'a' }),
    approvalSubject({ sessionId: 's', action, principal: 'a' }),
    approvalSubject({ sessionId: 's', action, parentAgentIds: ['a'] }),
    approvalSubject({ sessionId: 's', action, ...place }),
    approvalSubject({ sessionId: 's', action, subagent: 'a', parentAgentIds: ['b', 'c'] }),
    approvalSubject({ sessionId: 's', action: { ...action, arguments: place } }),
    approvalSubject({ sessionId: 's', action, principal: JSON.stringify(place) }),
  ];
  expect(subjects[1]).toBe(subjects[0]);
  expect(new Set(subjects).size).toBe(subjects.length - 1);
});
