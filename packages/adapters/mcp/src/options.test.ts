import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { expect, test } from 'vitest';
import { actlog } from './index.ts';

const guard = { mode: 'enforce', onUnavailable: 'deny' } as const;

test('refuses options in the place of the client or server, or beside it', () => {
  const message = /^guard has no effect in the first argument: .*actlog\(client, \{ guard \}\)/;
  expect(() => actlog({ guard } as never)).toThrow(message);
  expect(() => actlog({ server: new McpServer({ name: 's', version: '1' }), guard } as never)).toThrow(
    message,
  );
});
