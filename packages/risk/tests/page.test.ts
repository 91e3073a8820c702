import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { levels } from '../src/levels.ts';

const page = readFileSync(new URL('../../../docs/risk.md', import.meta.url), 'utf8');

test.each(['medium', 'high', 'critical'] as const)(
  'the page about the score has the limit of %s',
  (level) => {
    expect(page).toContain(`| \`${level}\` | ${levels[level]} |`);
  },
);
