import { expect, test } from 'vitest';
import { groupsIn, nameIn, tokenProblem } from './openid-provider.ts';

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

test.each([
  [{ email_verified: false }, []],
  [{ email_verified: 'False' }, []],
  [{ email_verified: 0 }, []],
  [{ email_verified: true }, ['a@b.example']],
  [{}, ['a@b.example']],
])('reads an email address as a group unless it is not verified: %j', (given, groups) => {
  expect(groupsIn({ email: 'a@b.example', ...given }, 'email')).toEqual(groups);
});

test.each([
  [{ iat: 1000 }, undefined],
  [{ iat: 1060, azp: 'actlog' }, undefined],
  [{ iat: 1061 }, 'future_iat'],
  [{ iat: 'soon' }, 'future_iat'],
  [{ iat: 1000, azp: 'another' }, 'wrong_azp'],
  [{ iat: 1000, azp: ['actlog'] }, 'wrong_azp'],
  [{ iat: 1000, azp: null }, 'wrong_azp'],
])('finds the problem of the token %j', (given, problem) => {
  expect(tokenProblem(given, 'actlog', 1000)).toBe(problem);
});
