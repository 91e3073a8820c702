import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

test('pins every action by the digest of a commit, with its version in a comment', () => {
  const uses = globSync(['.github/workflows/*.yml', 'examples/*/.github/workflows/*.yml'], {
    cwd: root,
  }).flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .filter((line) => /^\s*-?\s*uses:/.test(line)),
  );
  expect(uses.length).toBeGreaterThan(0);
  expect(uses.filter((line) => !/uses: [\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line))).toEqual([]);
});

test('CI runs the two commands of a newcomer before anything is built', () => {
  const commands = readFileSync(join(root, '.ci/run'), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('npm '));
  expect(commands[0]).toMatch(/^npm start\b/);
  expect(commands[1]).toMatch(/^npm test\b/);
});
