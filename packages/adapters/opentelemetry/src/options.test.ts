import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test('refuses a guard, because a span describes a call that has run', () => {
  expect(() => actlog({ guard } as never)).toThrow(
    /^guard has no effect here, .*actlog of the framework's own adapter/,
  );
});
