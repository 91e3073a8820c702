import { describe, expect, it } from 'vitest';
import { dimensionIds } from './risk-score.ts';
import { allRules } from './rule-catalogue.ts';

describe('the rules', () => {
  it('are at least thirty with unique ids, two or more for every dimension', () => {
    expect(allRules.length).toBeGreaterThanOrEqual(30);
    expect(new Set(allRules.map((rule) => rule.id)).size).toBe(allRules.length);
    for (const id of dimensionIds) {
      expect(allRules.filter((rule) => rule.dimension === id).length, id).toBeGreaterThanOrEqual(2);
    }
  });

  it('have complete texts', () => {
    for (const rule of allRules) {
      expect(rule.weight, rule.id).toBeGreaterThan(0);
      expect(rule.weight, rule.id).toBeLessThan(1);
      expect(rule.llm.length, rule.id).toBeGreaterThan(0);
      expect(rule.fires.length, rule.id).toBeGreaterThan(0);
      expect(rule.quiet.length, rule.id).toBeGreaterThan(0);
      for (const text of [rule.signal, rule.falsePositives, rule.recommendation.text])
        expect(text, rule.id).toMatch(/\.$/);
    }
  });
});
