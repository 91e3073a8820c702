import { runCommonJsBundle } from '@actlog/adapter-suite';
import { expect, test } from 'vitest';

const program = `
import { actlog } from '@actlog/mcp';
import { FastMCP } from 'fastmcp';
async function main() {
  const server = new FastMCP({ name: 'bundled', version: '1.0.0' });
  server.addTool({ name: 'echo', description: 'Echoes.', execute: async () => 'done' });
  actlog(server);
  await server.start({ transportType: 'stdio' });
  console.error('started');
  process.exit(0);
}
main();
`;

test('a CommonJS bundle with a FastMCP server starts', async () => {
  const { stderr } = await runCommonJsBundle({ program, folder: import.meta.dirname, external: ['fastmcp'] });
  expect(stderr).toContain('started');
});
