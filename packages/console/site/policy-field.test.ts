import { expect, test } from 'vitest';
import { policyField } from './pages/policy-editor.tsx';
import { policyFields } from './policy-draft.ts';

test('finds the field of a path, also in a list and in a draft', () => {
  expect(policyField('condition')).toBe('condition');
  expect(policyField('match.tools.3')).toBe('tools');
  expect(policyField('policies.0.approval.timeoutSeconds')).toBe('timeout');
  expect(policyField('approval.editable.1.oneOf.0')).toBe('editable');
  expect(policyField('metadata')).toBeUndefined();
  expect(policyField('')).toBeUndefined();
});

test('names only fields of the form', () => {
  const names = Object.keys(policyFields(undefined));
  for (const path of [
    'rate',
    'rate.per',
    'schedule.to',
    'approval.approverKeys.0',
    'approval.approverGroups.0',
    'match.environments',
  ]) {
    expect(names).toContain(policyField(path));
  }
});
