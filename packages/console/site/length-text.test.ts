import { expect, test } from 'vitest';
import { lengthText } from './pages/policies.tsx';

test.each([
  [3600, '1 hour'],
  [7200, '2 hours'],
  [90, '90 seconds'],
  [60, '1 minute'],
  [86_400, '1 day'],
  [1, '1 second'],
])('writes %i seconds as %s', (seconds, text) => {
  expect(lengthText(seconds)).toBe(text);
});
