import { Agent } from '@openai/agents';
import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'beside an agent',
    () => actlog.install({ agent: {}, guard } as never),
    /^"agent" is not an option: .*actlog\(agent, \{ guard \}\)/,
  ],
  [
    'in an agent',
    () => actlog(Object.assign(new Agent({ name: 'a' }), { guard }) as never),
    /^guard has no effect/,
  ],
  [
    'first, without an agent',
    () => actlog({ guard } as never),
    /^actlog: the first argument must be an agent or a runner.* actlog\.install\(\{ guard \}\) covers the whole process/,
  ],
  [
    'second, without an agent',
    () => actlog(undefined as never, { guard }),
    /^actlog: the first argument must be an agent or a runner/,
  ],
  [
    'nowhere, for the process',
    () => (actlog as unknown as () => unknown)(),
    /actlog\.install\(\{ guard \}\) covers the whole process/,
  ],
])('refuses options in the wrong place, %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
