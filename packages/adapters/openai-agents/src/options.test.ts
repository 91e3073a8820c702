import { Agent } from '@openai/agents';
import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'beside an agent',
    () => actlog({ agent: {}, guard } as never),
    /^"agent" is not an option: .*actlog\(agent, \{ guard \}\)/,
  ],
  [
    'in an agent',
    () => actlog(Object.assign(new Agent({ name: 'a' }), { guard }) as never),
    /^guard has no effect/,
  ],
  [
    'second, without an agent',
    () => actlog(undefined as never, { guard }),
    /^actlog: options are second only for an agent or a runner/,
  ],
])('refuses options in the wrong place, %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
