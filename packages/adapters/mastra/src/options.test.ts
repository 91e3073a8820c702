import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'hooks in the place of options',
    () => actlog({ beforeToolCall: () => undefined } as never),
    /^"beforeToolCall" is not an option: .*actlog.around\(hooks, \{ guard/,
  ],
  [
    'options in the place of hooks',
    () => actlog.around({ guard } as never),
    /^guard has no effect .*actlog.around\(hooks, \{ guard/,
  ],
  [
    'options in the place of tools',
    () => actlog.tools({ guard } as never),
    /^guard has no effect .*actlog.tools\(tools, \{ guard/,
  ],
  [
    'tools, for the process',
    () => actlog.install({ deleteUser: {} } as never),
    /^"deleteUser" is not an option/,
  ],
  [
    'a guard in an exporter',
    () => actlog.exporter({ guard } as never),
    /^guard has no effect here, .*hooks: actlog\(\{ guard/,
  ],
])('refuses options in the wrong place: %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
