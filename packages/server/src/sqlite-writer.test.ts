import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { threadFile } from './sqlite-writer.ts';

test('the thread has a file beside the one that starts it', () => {
  expect(existsSync(threadFile(import.meta.url))).toBe(true);
});

// As esbuild and webpack make it of a CommonJS bundle, of a module, and of one that was built on another machine.
test.each([undefined, `${import.meta.url}/../bundled/agent.mjs`, 'file:///nowhere/agent.js', 'webpack://x'])(
  'in a bundle at %s, the way out is named',
  (address) => {
    expect(() => threadFile(address)).toThrow(/leave @actlog\/server out of the bundle/);
  },
);
