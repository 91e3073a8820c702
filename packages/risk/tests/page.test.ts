import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LEVEL_LIMITS } from '../src/levels.ts';

const page = readFileSync(new URL('../../../docs/risk.md', import.meta.url), 'utf8');

it.each(['medium', 'high', 'critical'] as const)(
  'the page about the score has the limits of the level %s, in the order of its columns',
  (level) => {
    const { cold, warm, coldWithOrigins, warmWithOrigins } = LEVEL_LIMITS;
    const limits = [cold, warm, coldWithOrigins, warmWithOrigins].map((column) => column[level]);
    expect(page).toContain(`| \`${level}\` | ${limits.join(' | ')} |`);
  },
);
