import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { currentRulesetHash } from './engine-version.ts';
import { rulesetText } from './score.ts';

it('matches the published hash', () => {
  const hash = createHash('sha256').update(rulesetText()).digest('hex');
  expect(
    currentRulesetHash,
    'the ruleset changed: raise ENGINE_VERSION and set currentRulesetHash to the new hash',
  ).toBe(hash);
});
