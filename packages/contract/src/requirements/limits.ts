import { inSection } from '../requirement.ts';

/** Rates and bounds. */
export const limits = inSection('Limits', [
  ['LIM-01', 'MUST', ['1', 'Authentication: 5'], 'One key that is over its rate leaves another key alone.'],
  [
    'LIM-02',
    'MUST',
    ['2', 'Errors: 429'],
    'Over the rate, the answer is 429 with a Retry-After header in seconds or as a date.',
  ],
  ['LIM-03', 'MUST', '3', 'The official client repeats a failed request by itself, three times by default.'],
  ['LIM-04', 'OPEN', 'numbers', 'Which rate, page sizes and body sizes hold.'],
]);
