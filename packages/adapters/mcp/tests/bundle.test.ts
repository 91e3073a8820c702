import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const esbuild = createRequire(
  join(import.meta.dirname, '../../../client/tests/runtimes/package.json'),
).resolve('esbuild');

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
  // In the folder of the tests, because the bundle requires fastmcp.
  const folder = await mkdtemp(join(import.meta.dirname, 'bundle-'));
  try {
    const entry = join(folder, 'program.ts');
    const outfile = join(folder, 'program.cjs');
    await writeFile(entry, program);
    const { build } = (await import(esbuild)) as { build(options: object): Promise<unknown> };
    const options = { platform: 'node', format: 'cjs', conditions: ['@actlog/source'] } as const;
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      external: ['fastmcp'],
      logLevel: 'error',
      ...options,
    });
    const env = { ...process.env, ACTLOG_API_KEY: 'al_test_bundle', ACTLOG_BASE_URL: 'http://127.0.0.1:9' };
    const { stderr } = await promisify(execFile)(process.execPath, [outfile], { env });
    expect(stderr).toContain('started');
  } finally {
    await rm(folder, { recursive: true });
  }
});
