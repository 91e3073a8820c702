import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { LEVEL_LIMITS } from '../src/levels.ts';

const page = readFileSync(new URL('../../../docs/risk.md', import.meta.url), 'utf8');

it('the page about the score names the limits of the levels', () => {
  const { cold, warm, coldWithOrigins, warmWithOrigins } = LEVEL_LIMITS;
  expect([cold.high, cold.critical]).toEqual([warm.high, warm.critical]);
  expect(page).toContain(
    `\`medium\` begins at ${cold.medium}, or at ${warm.medium} where the agent has a baseline, ` +
      `\`high\` at ${cold.high}, \`critical\` at ${cold.critical}.`,
  );
  expect([coldWithOrigins.high, coldWithOrigins.critical]).toEqual([
    warmWithOrigins.high,
    warmWithOrigins.critical,
  ]);
  expect(page).toContain(
    `Where the recorder reports the origins of arguments, they begin at ${coldWithOrigins.medium} or ` +
      `${warmWithOrigins.medium}, ${coldWithOrigins.high} and ${coldWithOrigins.critical}.`,
  );
});
