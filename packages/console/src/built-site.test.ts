import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { expect, onTestFinished, test } from 'vitest';

test.each(['cjs', 'esm'] as const)(
  'a %s bundle loads, and names the fix when the page is requested',
  async (format) => {
    const folder = await mkdtemp(join(tmpdir(), 'actlog-console-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const outfile = join(folder, format === 'cjs' ? 'bundle.cjs' : 'bundle.mjs');
    const entry = join(import.meta.dirname, 'built-site.ts');
    await build({ entryPoints: [entry], bundle: true, platform: 'node', format, outfile, logLevel: 'error' });
    const { siteFiles } = createRequire(import.meta.url)(outfile) as typeof import('./built-site.ts');
    await expect(siteFiles()).rejects.toThrow(/cannot be read; exclude @actlog\/console from the bundle/);
  },
);
