import { describe, expect, it } from 'vitest';
import { DIMENSION_IDS } from './dimensions.ts';
import { RULES } from './rule-catalogue.ts';

describe('the rules', () => {
  it('are at least thirty with unique ids, two or more for every dimension', () => {
    expect(RULES.length).toBeGreaterThanOrEqual(30);
    expect(new Set(RULES.map((rule) => rule.id)).size).toBe(RULES.length);
    for (const id of DIMENSION_IDS) {
      expect(RULES.filter((rule) => rule.dimension === id).length, id).toBeGreaterThanOrEqual(2);
    }
  });

  it('have complete texts', () => {
    for (const rule of RULES) {
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
