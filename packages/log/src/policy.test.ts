import { expect, test } from 'vitest';
import { parsePolicy, trustPolicy } from './policy.ts';
import { createKey, parseVerifierKey } from './signed-note.ts';

const log = createKey('log.example').verifierKey;
const keys = ['x1', 'x2', 'x3', 'y1', 'y2'].map(
  (name) => createKey(`${name}.example`, 'witness').verifierKey,
);
const witnesses = keys.map((key, index) => `witness ${['x1', 'x2', 'x3', 'y1', 'y2'][index]} ${key}`);

function signedBy(...indexes: readonly number[]) {
  return [log, ...indexes.map((index) => keys[index] as string)].map((key) => ({
    key: parseVerifierKey(key),
  }));
}

test('demands the quorum of the example of C2SP tlog-policy', () => {
  const policy = parsePolicy(
    [
      '# two organizations',
      `log ${log} https://log.example`,
      '',
      ...witnesses,
      ' group X \t 2 x1 x2 x3',
      'group Y any y1 y2',
      'group X-and-Y all X Y',
      'quorum X-and-Y',
    ].join('\n'),
  );
  expect(policy.logs).toMatchObject([{ key: { name: 'log.example' }, url: 'https://log.example' }]);
  expect(policy.witnesses).toHaveLength(5);
  expect(policy.requirement).toBe(
    '2 of (2 of (x1.example, x2.example, x3.example), 1 of (y1.example, y2.example))',
  );
  expect(policy.isSatisfiedBy(signedBy(0, 2, 4))).toBe(true);
  expect(policy.isSatisfiedBy(signedBy(0, 1, 2))).toBe(false);
  expect(policy.isSatisfiedBy(signedBy(0, 3, 4))).toBe(false);
  expect(policy.isSatisfiedBy([])).toBe(false);
});

test('needs as many of the witnesses as given, all by default', () => {
  const two = trustPolicy(log, { witnesses: keys.slice(0, 3), needed: 2 });
  expect(two.isSatisfiedBy(signedBy(0, 2))).toBe(true);
  expect(two.isSatisfiedBy(signedBy(2))).toBe(false);
  const all = trustPolicy(log, { witnesses: keys.slice(0, 2) });
  expect(all.isSatisfiedBy(signedBy(0, 1))).toBe(true);
  expect(all.isSatisfiedBy(signedBy(1))).toBe(false);
  expect(trustPolicy(log).isSatisfiedBy(signedBy())).toBe(true);
  expect(trustPolicy(log, { witnesses: keys, needed: 0 }).isSatisfiedBy(signedBy())).toBe(true);
  expect(() => trustPolicy(log, { witnesses: keys, needed: 6 })).toThrow('1 to 5 of its members, got "6"');
  expect(() => trustPolicy(log, { needed: 1 })).toThrow('of its members, got "1"');
});

const start = [`log ${log}`, ...witnesses];
test.each([
  ['no quorum', start, 'A policy must have a line "quorum <name>" or "quorum none".'],
  ['two quorums', [...start, 'quorum none', 'quorum x1'], 'Line 8 of the policy must not be a second quorum'],
  [
    'an unknown word',
    ['mirror m'],
    'Line 1 of the policy must begin with log, witness, group or quorum, got "mirror".',
  ],
  ['an unknown member', [...start, 'group G any z'], 'must name members of lines above, got "z"'],
  ['itself as a member', [...start, 'group G any G'], 'must name members of lines above, got "G"'],
  ['a member twice', [...start, 'group G any x1', 'group H any x1'], 'which is a member already'],
  ['a count of 0', [...start, 'group G 0 x1'], 'must need "all", "any" or 1 to 1 of its members, got "0"'],
  ['a count beyond the members', [...start, 'group G 2 x1'], 'got "2"'],
  ['a group without members', [...start, 'group G all'], 'got "all"'],
  ['a name that is taken', [...start, 'group x1 any x2'], 'must have a name that is not taken, got "x1"'],
  ['the name none', [`witness none ${keys[0]}`], 'must have a name that is not taken, got "none"'],
  ['the same key twice', [...start, `witness z ${keys[0]}`], 'must not repeat the public key of x1.example'],
  ['a witness as a log', [`log ${keys[0]}`], 'must have the key of a log, got that of a witness'],
  ['a log as a witness', [`witness x ${log}`], 'must have the key of a witness, got that of a log'],
  ['an unknown quorum', [...start, 'quorum G'], 'must be "quorum none" or name a witness or group'],
  ['a control character', [`log ${log}\u0007`], 'must not contain control characters'],
])('refuses a policy with %s', (_problem, lines, message) => {
  expect(() => parsePolicy(lines.join('\n'))).toThrow(message);
});
