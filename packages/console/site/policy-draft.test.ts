import { expect, test } from 'vitest';
import { readPolicy } from './policy-draft.ts';

function form(fields: Readonly<Record<string, string>>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}

const least = { name: ' Refunds ', effect: 'deny', mode: 'enforce', priority: '0' };

test('what is empty is left out of a new policy, or null', () => {
  expect(readPolicy(form(least), false)).toEqual({
    name: 'Refunds',
    description: null,
    effect: 'deny',
    mode: 'enforce',
    priority: 0,
    match: {},
    condition: null,
    message: null,
    rate: null,
    approval: null,
  });
});

test('a change takes away what was emptied', () => {
  const { match } = readPolicy(form({ ...least, tools: 'refund, transfer_*\n\ndelete' }), true);
  expect(match).toEqual({
    tools: ['refund', 'transfer_*', 'delete'],
    agents: null,
    frameworks: null,
    environments: null,
  });
});

test('a time to decide is for approvals only', () => {
  const fields = { ...least, timeoutSeconds: '60', onTimeout: 'allow' };
  expect(readPolicy(form(fields), false).approval).toBeNull();
  expect(readPolicy(form({ ...fields, effect: 'require_approval' }), false).approval).toEqual({
    timeoutSeconds: 60,
    onTimeout: 'allow',
  });
});

test('a rate counts from zero', () => {
  const fields = { ...least, rateMax: '0', rateWindowSeconds: '60', ratePer: 'tenant' };
  expect(readPolicy(form(fields), false).rate).toEqual({ max: 0, windowSeconds: 60, per: 'tenant' });
});
