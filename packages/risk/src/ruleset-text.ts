import { LEVEL_LIMITS } from './levels.ts';
import { RULES } from './rule-catalogue.ts';

/** All that decides a score besides code: the rules' ids, dimensions and weights, and the levels' limits. */
export function rulesetText(): string {
  const rules = RULES.map(
    ({
      id,
      dimension,
      weight,
      cluster = null,
      deterministic = false,
      habitual = true,
      precedented = false,
    }) => ({
      id,
      dimension,
      weight,
      cluster,
      deterministic,
      habitual,
      precedented,
    }),
  );
  return JSON.stringify({ rules, levels: LEVEL_LIMITS });
}
