import { expect, test } from 'vitest';
import { showArgumentsOf } from './show-arguments.ts';

const args = {
  command: 'rm -rf /',
  user: { name: 'ada', mail: 'ada@example.com' },
  files: [{ path: '/etc' }],
};

test.each([
  ['*', args],
  ['command', { command: 'rm -rf /' }],
  ['command, user.name', { command: 'rm -rf /', user: { name: 'ada' } }],
  ['user.name,user.mail', { user: { name: 'ada', mail: 'ada@example.com' } }],
  ['files', { files: [{ path: '/etc' }] }],
  ['missing,command.length,user.age,toString', { user: {} }],
])('selects %s', (option, shown) => {
  expect(showArgumentsOf(option)(args, 'Bash')).toEqual(shown);
});

test('shows arguments that are no object as a value, and sets no prototype', () => {
  expect(showArgumentsOf('*')('text', 'Bash')).toEqual({ value: 'text' });
  expect(showArgumentsOf('command')('text', 'Bash')).toEqual({});
  const given = JSON.parse('{"__proto__":{"polluted":true}}');
  const shown = showArgumentsOf('__proto__.polluted')(given, 'Bash');
  expect(JSON.stringify(shown)).toBe('{"__proto__":{"polluted":true}}');
  expect(shown.polluted).toBeUndefined();
});

test.each(['', 'a,', 'a..b'])('rejects the empty path in %j', (option) => {
  expect(() => showArgumentsOf(option)).toThrow(/^The paths of shown arguments must be names/);
});
