import { describe, expect, it } from 'vitest';
import type { Rule } from './rule.ts';
import { allRules } from './rule-catalogue.ts';
import { playExample, type RuleExample } from './rule-example.ts';
import { score } from './score.ts';
import { viewOf } from './session/session-view.ts';

function play(rule: Rule, example: RuleExample) {
  const { state, baseline } = playExample(example, score);
  return rule.detect(viewOf(state, example.history === undefined ? undefined : baseline));
}

describe.each(allRules.map((rule) => [rule.id, rule] as const))('%s', (_, rule) => {
  it.each(rule.fires.map((example) => [example.name, example] as const))('fires: %s', (_name, example) => {
    const match = play(rule, example);
    expect(match).toBeDefined();
    expect(match?.strength).toBeGreaterThan(0);
    expect(match?.strength).toBeLessThanOrEqual(1);
    expect(match?.eventIds.length).toBeGreaterThan(0);
    expect(match?.count ?? 1).toBeGreaterThanOrEqual(match?.eventIds.length ?? 0);
    expect(match?.explanation).toMatch(/^\S.*\.$/);
    expect(match?.explanation).not.toMatch(/undefined|NaN|given-/);
  });
  it.each(rule.quiet.map((example) => [example.name, example] as const))(
    'stays quiet: %s',
    (_name, example) => {
      expect(play(rule, example)).toBeUndefined();
    },
  );
});
