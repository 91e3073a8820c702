import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from './workspace.ts';

const page = readFileSync(join(root, 'docs/compliance.md'), 'utf8');
const rows = page.split('\n').filter((line) => /^\| (?!---|requirement|article|control|entry)/.test(line));

test.each(rows)('%s names a test or a page that exists', (row) => {
  const tests = [...row.matchAll(/`(packages\/[^`]+\.ts)`/g)].map(([, path]) => path as string);
  const pages = [...row.matchAll(/\]\((\.{1,2}\/[^)#]+)/g)].map(([, path]) => join('docs', path as string));
  expect(tests.length + pages.length).toBeGreaterThan(0);
  for (const path of [...tests, ...pages]) expect(existsSync(join(root, path)), path).toBe(true);
});

test('has the requirements of AARM and the ten entries of OWASP', () => {
  for (let number = 1; number <= 9; number += 1) expect(page).toContain(`| R${number} `);
  for (let number = 1; number <= 10; number += 1)
    expect(page).toContain(`| ASI${String(number).padStart(2, '0')} `);
});
