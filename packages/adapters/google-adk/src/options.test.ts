import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'an agent in the place of options',
    () => actlog({ agent: {}, guard } as never),
    /^"agent" is not an option: .*plugins: \[actlog\(\{ guard/,
  ],
  ['a runner, for the process', () => actlog.install({ runner: {} } as never), /^"runner" is not an option/],
])('refuses options in the wrong place: %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
