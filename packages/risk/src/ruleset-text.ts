import { evidenceLimits } from './levels.ts';
import { allRules } from './rule-catalogue.ts';

/**
 * Returns everything that determines a score besides code: the rules' ids, dimensions and weights, and the
 * level limits.
 */
export function rulesetText(): string {
  const rules = allRules.map(
    ({
      id,
      dimension,
      weight,
      cluster = null,
      deterministic = false,
      habitual = true,
      precedented = false,
      circumstantial = false,
    }) => ({
      id,
      dimension,
      weight,
      cluster,
      deterministic,
      habitual,
      precedented,
      circumstantial,
    }),
  );
  return JSON.stringify({ rules, levels: evidenceLimits });
}
