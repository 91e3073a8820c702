import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { buildWorkflowTests, setupWorkflowTests, teardownWorkflowTests } from '@workflow/vitest';
import { build } from 'esbuild';

/** Packages of the project, besides those of this repository. */
const packages = ['@ai-sdk/provider-utils', '@ai-sdk/workflow', 'ai', 'workflow', 'zod'];

/** Installs packages of this repository, bundled from their sources, as they are published. */
async function installActlog(folder: string): Promise<void> {
  await build({
    entryPoints: { 'ai-sdk/index': '@actlog/ai-sdk', 'recorder/index': '@actlog/recorder' },
    absWorkingDir: import.meta.dirname,
    outdir: folder,
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    conditions: ['@actlog/source'],
    banner: {
      js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
    },
    logLevel: 'error',
  });
  for (const name of ['ai-sdk', 'recorder']) {
    const manifest = { name: `@actlog/${name}`, version: '0.0.0', type: 'module', exports: './index.js' };
    writeFileSync(join(folder, name, 'package.json'), JSON.stringify(manifest));
  }
}

/**
 * Compiles `project/` with the compiler of workflow, which takes workflows and steps apart, and makes this process the
 * one that runs both.
 *
 * @returns a function that ends that, and removes the project
 */
export async function startProject(): Promise<() => Promise<void>> {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-workflow-'));
  cpSync(join(import.meta.dirname, 'project'), folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'project', type: 'module' }));
  for (const name of packages) {
    const target = join(folder, 'node_modules', name);
    mkdirSync(dirname(target), { recursive: true });
    symlinkSync(join(import.meta.dirname, '../node_modules', name), target);
  }
  await installActlog(join(folder, 'node_modules/@actlog'));
  await buildWorkflowTests({ cwd: folder });
  await setupWorkflowTests({ cwd: folder });
  return async () => {
    await teardownWorkflowTests();
    rmSync(folder, { recursive: true, force: true });
  };
}
