import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'beside an application',
    () => actlog({ ai: {}, guard } as never),
    /^"ai" is not an option: .*actlog\(ai, \{ guard \}\) or use: \[actlog/,
  ],
  [
    'second, without an application',
    () => actlog(undefined as never, { guard }),
    /^actlog: options are second only for an application/,
  ],
])('refuses options in the wrong place, %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
