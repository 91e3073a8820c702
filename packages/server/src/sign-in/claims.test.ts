import { expect, test } from 'vitest';
import { groupsIn, nameIn } from './claims.ts';

const claims = {
  sub: '4711',
  groups: ['a', 7, 'b', null],
  hd: 'example.com',
  realm_access: { roles: ['ops'] },
  'https://example.com/roles': ['whole name'],
};

test.each([
  ['groups', ['a', 'b']],
  ['hd', ['example.com']],
  ['realm_access.roles', ['ops']],
  ['https://example.com/roles', ['whole name']],
  ['realm_access', []],
  ['realm_access.roles.length', []],
  ['missing', []],
  ['missing.roles', []],
  ['constructor.name', []],
  ['__proto__.x', []],
])('reads the groups in the claim %s', (path, groups) => {
  expect(groupsIn(claims, path)).toEqual(groups);
});

test.each([
  [{ email: 'a@b.example' }, undefined, 'a@b.example'],
  [{ email: 'a@b.example', email_verified: true }, undefined, 'a@b.example'],
  [{ email: 'a@b.example', email_verified: false, preferred_username: 'a' }, undefined, 'a'],
  [{ email: 'a@b.example', email_verified: 'false' }, undefined, '4711'],
  [{ email: 'a@b.example', email_verified: false }, 'email', '4711'],
  [{ email: 'a@b.example', upn: ' ada ' }, 'upn', 'ada'],
  [{ profile: { name: 'Ada' } }, 'profile.name', 'Ada'],
  [{ email: 'a\nb' }, undefined, '4711'],
  [{ email: 'a'.repeat(201) }, undefined, '4711'],
  [{ email: '  ', preferred_username: 7 }, undefined, '4711'],
])('reads the name in %j, by the claim %s', (given, nameClaim, name) => {
  expect(nameIn({ sub: '4711', ...given }, nameClaim)).toBe(name);
});

test('finds no name in claims without one', () => {
  expect(nameIn({ sub: 'a\u0000' }, undefined)).toBeUndefined();
});
