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
import { actlog } from '@actlog/langchain';
import { createAgent } from 'langchain';
actlog.install();
createAgent({ model: 'none', tools: [], middleware: [actlog()] });
console.log('started');
`;

test('a CommonJS bundle with an agent starts', async () => {
  // In the folder of the tests, from where the bundler finds the packages.
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
      logLevel: 'error',
      ...options,
    });
    const env = { ...process.env, ACTLOG_API_KEY: 'al_test_bundle', ACTLOG_BASE_URL: 'http://127.0.0.1:9' };
    const { stdout } = await promisify(execFile)(process.execPath, [outfile], { env });
    expect(stdout).toContain('started');
  } finally {
    await rm(folder, { recursive: true });
  }
});
