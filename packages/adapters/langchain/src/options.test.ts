import { tool } from '@langchain/core/tools';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

const deleteUser = tool(async () => 'gone', { name: 'delete_user', schema: z.object({}) });

test.each<[string, () => unknown, RegExp]>([
  [
    'tools before them',
    () => actlog({ deleteUser } as never),
    /^"deleteUser" is not an option: .*middleware: \[actlog\(\{ guard/,
  ],
  ['a list of tools', () => actlog([deleteUser] as never), /^options must be of type object, got array/],
  ['tools, for the process', () => actlog.install({ deleteUser } as never), /^"deleteUser" is not an option/],
  [
    'options in a list of tools',
    () => actlog.tools([deleteUser, { guard }] as never),
    /^guard has no effect .*actlog.tools\(tools, \{ guard/,
  ],
  [
    'a guard in a handler',
    () => actlog.handler({ guard } as never),
    /^guard has no effect here, .*middleware: \[actlog/,
  ],
])('refuses options in the wrong place: %s', (_place, call, message) => {
  expect(call).toThrow(message);
});
