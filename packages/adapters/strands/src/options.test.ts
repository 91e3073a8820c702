import { Agent } from '@strands-agents/sdk';
import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test.each<[string, () => unknown, RegExp]>([
  [
    'an agent in the place of options',
    () => actlog(new Agent({ printer: false }) as never),
    /is not an option: .*interventions: \[actlog\(\{ guard/,
  ],
  [
    'an agent, for the process',
    () => actlog.install(new Agent({ printer: false }) as never),
    /is not an option/,
  ],
  [
    'options in the place of tools',
    () => actlog.tools([{ guard }] as never),
    /^guard has no effect .*actlog.tools\(tools, \{ guard/,
  ],
])('refuses options in the wrong place: %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
