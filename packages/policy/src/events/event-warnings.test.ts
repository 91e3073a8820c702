import { expect, test } from 'vitest';
import { categoryRefusal } from './event-warnings.ts';

/** Spellings that a person or a loose comparison could mistake for the service's own category. */
const spellings = [
  'guardian_decision',
  'guardiandecision',
  'guardian__decision_',
  'guardian_decision ',
  ' guardian_decision',
  'guardian_decision\u00a0',
  'guardian\u200b_decision',
  '\ufeffguardian_decision',
  'Guardian_Decision',
  'GUARDIAN-DECISION',
  'guardian decision',
  'guardian_d\u0435cision',
  'ｇuardian_decision',
  'guárdian_decision',
];

test.each(spellings)('treats the category %j as reserved', (category) => {
  expect(categoryRefusal(category)?.details?.[0]?.code).toBe('reserved');
});

test.each(['tool_api', 'guardian', 'guardian_decisions', 'my_guardian_decision', 'decision', ''])(
  'treats the category %j as free',
  (category) => {
    expect(categoryRefusal(category)).toBeUndefined();
  },
);
