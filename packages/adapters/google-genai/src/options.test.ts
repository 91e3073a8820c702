import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'the client',
    () => actlog({ guard } as never),
    /^guard has no effect in the first argument: .*actlog\(new GoogleGenAI/,
  ],
  [
    'the functions',
    () => actlog.callRunner({ guard } as never),
    /^guard has no effect .*actlog.callRunner\(functions, \{ guard/,
  ],
])('refuses options in the wrong place, in %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
