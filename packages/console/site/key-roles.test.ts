import { expect, test } from 'vitest';
import { keyRoles, roleName } from './keys-api.ts';

test('names the role of a set of scopes in any order', () => {
  expect(roleName(['ingest'])).toBe('Agent');
  expect(roleName(['decide', 'read'])).toBe('Approver');
  expect(roleName([...keyRoles.admin.scopes].reverse())).toBe('Administrator');
  expect(roleName(['ingest', 'read'])).toBeUndefined();
});
