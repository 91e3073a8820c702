import { expect, test } from 'vitest';
import { policyChanges, policyFields, readPolicy } from './policy-draft.ts';

const least = { name: ' Refunds ', effect: 'deny', mode: 'enforce', priority: '0' };

test('what is empty is left out of a new policy, or null', () => {
  expect(readPolicy(least)).toEqual({
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

test('patterns are parted by lines and by commas', () => {
  const { match } = readPolicy({ ...least, tools: 'refund, transfer_*\r\n\n delete ' });
  expect(match).toEqual({ tools: ['refund', 'transfer_*', 'delete'] });
});

test('a time to decide is for approvals only', () => {
  const fields = { ...least, timeoutSeconds: '60', onTimeout: 'allow' };
  expect(readPolicy(fields).approval).toBeNull();
  expect(readPolicy({ ...fields, effect: 'require_approval' }).approval).toEqual({
    timeoutSeconds: 60,
    onTimeout: 'allow',
  });
});

test('what happens then is not dropped where the time is missing, but left to the service to name', () => {
  const fields = { ...least, effect: 'require_approval', timeoutSeconds: '' };
  expect(readPolicy({ ...fields, onTimeout: 'deny' }).approval).toBeNull();
  expect(readPolicy({ ...fields, onTimeout: 'allow' }).approval).toEqual({
    timeoutSeconds: 0,
    onTimeout: 'allow',
  });
});

test('a rate counts from zero', () => {
  const fields = { ...least, rateMax: '0', rateWindowSeconds: '60', ratePer: 'tenant' };
  expect(readPolicy(fields).rate).toEqual({ max: 0, windowSeconds: 60, per: 'tenant' });
});

const policy = {
  id: 'pol_1',
  name: ' Refunds ',
  effect: 'deny' as const,
  match: { tools: ['a,b', ' c '], agents: ['x'] },
  message: 'one\r\ntwo\n',
  approval: { timeoutSeconds: 60, onTimeout: 'allow' as const },
};

test('a change names what was changed and nothing else', () => {
  const fields = policyFields(policy);
  expect(policyChanges(policy, fields)).toEqual({});
  expect(policyChanges(policy, { ...fields, message: 'one\ntwo' })).toEqual({});
  expect(policyChanges(policy, { ...fields, priority: '3', rateMax: '0' })).toEqual({
    priority: 3,
    rate: { max: 0, windowSeconds: 60, per: 'agent' },
  });
});

test('a change of patterns keeps the known ones to the letter, and takes away a list that was emptied', () => {
  const fields = { ...policyFields(policy), tools: 'a,b\r\n c \r\nd,e', agents: '' };
  expect(policyChanges(policy, fields)).toEqual({
    match: { tools: ['a,b', ' c ', 'd', 'e'], agents: null },
  });
});
