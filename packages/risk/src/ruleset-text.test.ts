import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { RULESET_HASH } from './engine-version.ts';
import { rulesetText } from './ruleset-text.ts';

it('matches the published hash', () => {
  const hash = createHash('sha256').update(rulesetText()).digest('hex');
  expect(RULESET_HASH, 'the ruleset changed: raise ENGINE_VERSION and set RULESET_HASH to the new hash').toBe(
    hash,
  );
});
