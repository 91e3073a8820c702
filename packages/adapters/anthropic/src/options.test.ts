import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'the tools',
    () => actlog({ guard } as never),
    /^guard has no effect in the first argument: .*actlog\(tools, \{ guard \}\)/,
  ],
  ['the list of tools', () => actlog([{ guard }] as never), /^guard has no effect in the first argument/],
  [
    'the functions',
    () => actlog.callRunner({ guard } as never),
    /^guard has no effect .*actlog.callRunner\(functions, \{ guard/,
  ],
  [
    'the middleware',
    () => actlog.middleware({ guard } as never),
    /^guard has no effect here, .*actlog\(tools, \{ guard \}\)/,
  ],
  [
    'the options',
    () => actlog([], guard as never),
    /^"mode" is not an option: .*actlog\(tools, \{ guard \}\)/,
  ],
])('refuses options in the wrong place, in %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
