import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { threadFile } from './open-storage.ts';

test('finds the file of the writer thread beside its own', () => {
  expect(existsSync(threadFile(import.meta.url))).toBe(true);
});

// Values in bundles of esbuild and webpack: CommonJS, a module, and one built on another machine.
test.each([undefined, `${import.meta.url}/../bundled/agent.mjs`, 'file:///nowhere/agent.js', 'webpack://x'])(
  'says what to do when bundled at %s',
  (address) => {
    expect(() => threadFile(address)).toThrow(/leave @actlog\/server out of the bundle/);
  },
);
