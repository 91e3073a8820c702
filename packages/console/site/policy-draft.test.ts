import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Policy, PolicyCreate } from '@actlog/client';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import {
  editableJson,
  editableRow,
  isBroad,
  matchesEverything,
  policyChanges,
  policyFields,
  readPolicy,
} from './policy-draft.ts';

const least = { name: ' Refunds ', effect: 'deny', mode: 'enforce', priority: '0' };

test('omits empty fields of a new policy or sets them to null', () => {
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

test('separates patterns by lines and by commas', () => {
  const { match } = readPolicy({ ...least, tools: 'refund, transfer_*\r\n\n delete ' });
  expect(match).toEqual({ tools: ['refund', 'transfer_*', 'delete'] });
});

test('sets a timeout only for approvals', () => {
  const fields = { ...least, timeout: '1 min', onTimeout: 'allow' };
  expect(readPolicy(fields).approval).toBeNull();
  expect(readPolicy({ ...fields, effect: 'require_approval' }).approval).toEqual({
    timeoutSeconds: 60,
    onTimeout: 'allow',
  });
});

test('keeps onTimeout without a timeout, so that the service reports the missing field', () => {
  const fields = { ...least, effect: 'require_approval', timeout: '' };
  expect(readPolicy({ ...fields, onTimeout: 'deny' }).approval).toBeNull();
  expect(readPolicy({ ...fields, onTimeout: 'allow' }).approval).toEqual({
    timeoutSeconds: 0,
    onTimeout: 'allow',
  });
});

test('uses the default timeout for a single-use approval, and removes singleUse explicitly', () => {
  const fields = { ...least, effect: 'require_approval', timeout: '', singleUse: 'on' };
  const approval = { timeoutSeconds: 900, onTimeout: 'deny' as const, singleUse: true };
  expect(readPolicy(fields).approval).toEqual(approval);
  const stored = { id: 'pol_1', name: 'Refunds', effect: 'require_approval' as const, approval };
  const shown = policyFields(stored);
  expect(policyChanges(stored, shown)).toEqual({});
  expect(policyChanges(stored, { ...shown, singleUse: '' })).toEqual({
    approval: { ...approval, singleUse: false },
  });
});

test('accepts a rate of zero', () => {
  const fields = { ...least, rateMax: '0', rateWindow: '60 s', ratePer: 'tenant' };
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

test('includes only changed fields in an update', () => {
  const fields = policyFields(policy);
  expect(policyChanges(policy, fields)).toEqual({});
  expect(policyChanges(policy, { ...fields, message: 'one\ntwo' })).toEqual({});
  expect(policyChanges(policy, { ...fields, priority: '3', rateMax: '0' })).toEqual({
    priority: 3,
    rate: { max: 0, windowSeconds: 60, per: 'agent' },
  });
});

test('keeps known patterns unchanged and removes an emptied list', () => {
  const fields = { ...policyFields(policy), tools: 'a,b\r\n c \r\nd,e', agents: '' };
  expect(policyChanges(policy, fields)).toEqual({
    match: { tools: ['a,b', ' c ', 'd', 'e'], agents: null },
  });
});

test('reads the rules about approvers, and removes the list of keys explicitly', () => {
  const fields = {
    ...least,
    effect: 'require_approval',
    requiredApprovers: '2',
    approverKeys: 'key_a\nkey_b',
  };
  const rules = { requiredApprovers: 2, approverKeys: ['key_a', 'key_b'] };
  const approval = { timeoutSeconds: 900, onTimeout: 'deny' as const, ...rules };
  expect(readPolicy({ ...fields, timeout: '' }).approval).toEqual(approval);
  const stored = { id: 'pol_1', name: 'Refunds', effect: 'require_approval' as const, approval };
  const shown = policyFields(stored);
  expect(policyChanges(stored, shown)).toEqual({});
  expect(policyChanges(stored, { ...shown, approverKeys: '', requiredApprovers: '1' })).toEqual({
    approval: { timeoutSeconds: 900, onTimeout: 'deny', requiredApprovers: 1, approverKeys: null },
  });
});

test('reads a schedule, changes a part of it, and removes it', () => {
  expect(readPolicy(least)).not.toHaveProperty('schedule');
  const fields = { ...least, scheduleZone: 'Europe/Berlin', scheduleDays: 'Mon, fri', scheduleFrom: '09:00' };
  const schedule = { timeZone: 'Europe/Berlin', days: ['mon', 'fri'], from: '09:00' } as const;
  expect(readPolicy(fields).schedule).toEqual(schedule);
  const stored = { id: 'pol_1', name: 'Refunds', schedule: { ...schedule, days: [...schedule.days] } };
  const shown = policyFields(stored);
  expect(policyChanges(stored, shown)).toEqual({});
  expect(policyChanges(stored, { ...shown, scheduleDays: '', scheduleTo: '12:00' })).toEqual({
    schedule: { timeZone: 'Europe/Berlin', days: null, from: '09:00', to: '12:00' },
  });
  const none = { scheduleZone: '', scheduleDays: '', scheduleFrom: '' };
  expect(policyChanges(stored, { ...shown, ...none })).toEqual({ schedule: null });
});

test('removes the list of groups explicitly, and keeps commas in the name of a group', () => {
  const approverGroups = ['cn=finance,ou=groups', 'on-call'];
  const approval = { timeoutSeconds: 5400, onTimeout: 'deny' as const, approverGroups };
  const stored = { id: 'pol_1', name: 'Refunds', effect: 'require_approval' as const, approval };
  const shown = policyFields(stored);
  expect(shown.timeout).toBe('90 minutes');
  expect(policyChanges(stored, shown)).toEqual({});
  expect(policyChanges(stored, { ...shown, approverGroups: '' }).approval).toMatchObject({
    approverGroups: null,
  });
  const made = readPolicy({ ...least, effect: 'require_approval', approverGroups: 'a, b\nc' });
  expect(made.approval).toMatchObject({ approverGroups: ['a, b', 'c'] });
});

test('a new policy only logs, and one of a service without modes enforces', () => {
  expect(policyFields(undefined).mode).toBe('log_only');
  expect(policyFields({ id: 'pol_1', name: 'Refunds' }).mode).toBe('enforce');
});

test.each([
  ['every tool of every agent', {}, true, true],
  ['stars', { tools: 'refund\n*', agents: '**' }, true, true],
  ['every tool of one agent', { agents: 'billing' }, false, false],
  ['a denial of every tool of one agent', { agents: 'billing', mode: 'enforce' }, false, true],
  ['a denial with a condition', { condition: 'args.amount > 5', mode: 'enforce' }, false, true],
  ['a denial of one tool', { tools: 'refund*', mode: 'enforce' }, false, false],
  ['a condition', { condition: 'args.amount > 5' }, false, false],
  ['a rate', { rateMax: '5', rateWindow: '1 h', ratePer: 'agent' }, false, false],
  ['a schedule', { scheduleZone: 'UTC' }, false, false],
  ['an environment', { environments: 'production' }, false, false],
])('knows the reach of %s', (_what, fields, isEverything, isQuestioned) => {
  const draft = readPolicy({ ...least, mode: 'log_only', ...fields });
  expect(matchesEverything(draft)).toBe(isEverything);
  expect(isBroad(draft)).toBe(isQuestioned);
});

test.each([
  ['{"path":"amount","max":500}', 'number', '500'],
  ['{"path":"amount","max":500,"min":100}', 'number', '100 to 500'],
  ['{"path":"to","oneOf":["ada","grace hopper"]}', 'choice', 'ada, grace hopper'],
  ['{"path":"paths","subset":true}', 'list', ''],
  ['{"path":"note","anyText":true}', 'text', ''],
  ['{"path":"to","oneOf":["a, b"]}', 'other', '{"path":"to","oneOf":["a, b"]}'],
  ['{"path":"amount","min":5}', 'other', '{"path":"amount","min":5}'],
  ['no JSON', 'other', 'no JSON'],
])('shows the changeable argument %s in a row, and writes the same again', (json, kind, limit) => {
  const row = editableRow(json);
  expect(row).toMatchObject({ kind, limit });
  expect(editableJson(row)).toBe(json);
});

const packs = join(import.meta.dirname, '..', '..', 'cli', 'policy-packs');

/** Returns the fields that a policy sets, without those that are null or empty. */
function setFields(policy: Partial<PolicyCreate>): unknown {
  const entries = Object.entries(policy).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(entries.filter(([, value]) => JSON.stringify(value) !== '{}'));
}

test.each(readdirSync(packs).filter((file) => file.endsWith('.yaml')))(
  'the form of each policy of %s changes nothing in it',
  (file) => {
    const { policies } = parse(readFileSync(join(packs, file), 'utf8')) as { policies: PolicyCreate[] };
    for (const policy of policies) {
      const stored = { mode: 'enforce', priority: 0, ...policy, id: 'pol_1' } as Policy;
      expect(policyChanges(stored, policyFields(stored))).toEqual({});
      expect(setFields(readPolicy(policyFields(stored)))).toEqual(
        setFields({ mode: 'enforce', priority: 0, ...policy }),
      );
    }
  },
);
