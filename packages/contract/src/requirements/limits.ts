import { inSection } from '../requirement.ts';

/** Requirements for rates and limits. */
export const limits = inSection('Limits', [
  ['LIM-01', 'MUST', ['1', 'Authentication: 5'], 'A key that exceeds its rate does not affect other keys.'],
  [
    'LIM-02',
    'MUST',
    ['2', 'Errors: 429'],
    'A request over the rate returns 429 with a Retry-After header in seconds or as a date.',
  ],
  [
    'LIM-03',
    'MUST',
    '3',
    'The official client retries a failed request automatically, three times by default.',
  ],
  ['LIM-04', 'OPEN', 'numbers', 'Limits of rates, page sizes and body sizes.'],
]);
