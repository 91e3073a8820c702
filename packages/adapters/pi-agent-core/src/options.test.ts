import { expect, test } from 'vitest';
import { agentOf } from '../tests/agent.ts';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  ['instead of an agent', () => actlog({ guard } as never), /^actlog: the first argument must be an Agent/],
  [
    'on an agent',
    () => actlog(Object.assign(agentOf([], []), { guard }) as never),
    /^guard has no effect in the first argument: .*actlog\(agent, \{ guard \}\)/,
  ],
  [
    'of an unknown name',
    () => actlog(agentOf([], []), { guards: guard } as never),
    /^"guards" is not an option: .*actlog\(agent, \{ guard \}\) or actlog\.tools/,
  ],
  [
    'among tools',
    () => actlog.tools([{ guard }] as never),
    /^guard has no effect in the first argument: .*actlog\.tools\(tools, \{ guard \}\)/,
  ],
])('refuses options in the wrong place, %s', (_place, call, message) => {
  expect(call).toThrow(message);
});

test('takes an agent with a session', () => {
  const agent = agentOf([], [], { sessionId: 'its-own' });
  expect(actlog(agent)).toBe(agent);
});
