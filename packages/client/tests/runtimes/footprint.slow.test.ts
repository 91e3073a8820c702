import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ScriptedServer } from '../scripted-server.ts';
import { PackedClient } from './packed-client.ts';
import { startService } from './service.ts';

const run = promisify(execFile);

/** Size limit of the code that a program loads at startup: the client and its dependencies except undici. */
const budgetBytes = 15_200;

let packed: PackedClient;
let service: ScriptedServer;
beforeAll(async () => {
  packed = await PackedClient.install();
  service = await startService();
}, 60_000);
afterAll(() => Promise.all([packed.remove(), service.stop()]));

/** Runs a module next to the packed client and returns its output. */
async function evaluate(source: string): Promise<unknown> {
  const path = join(packed.folder, 'evaluated.js');
  await writeFile(path, source);
  const { stdout } = await run(process.execPath, [path, service.origin], { cwd: packed.folder });
  return JSON.parse(stdout);
}

const undiciLoaded = `Object.keys(require.cache).some((path) => path.includes('/undici/'))`;

describe('importing the client', () => {
  it('loads no Node modules beyond those of an empty module, and not undici', async () => {
    await writeFile(join(packed.folder, 'empty.js'), '');
    const seen = await evaluate(`
      import { createRequire } from 'node:module';
      const require = createRequire(import.meta.url);
      await import('./empty.js');
      const before = new Set(process.moduleLoadList);
      const { Actlog } = await import('@actlog/client');
      const loaded = process.moduleLoadList.filter((name) => !before.has(name));
      const client = new Actlog({ apiKey: 'al_test_runtimes', baseURL: process.argv[2] });
      const afterImport = ${undiciLoaded};
      await client.withOptions({ fetch: (url, init) => fetch(url, init) }).sessions.list();
      const afterFetch = ${undiciLoaded};
      await client.sessions.list();
      console.log(JSON.stringify({ loaded, afterImport, afterFetch, afterRequest: ${undiciLoaded} }));
    `);
    expect(seen).toEqual({ loaded: [], afterImport: false, afterFetch: false, afterRequest: true });
  });

  it('stays within its size limit', async () => {
    const { outputFiles, metafile } = await build({
      stdin: { contents: "export * from '@actlog/client'", resolveDir: packed.folder },
      absWorkingDir: packed.folder,
      outdir: 'out',
      bundle: true,
      splitting: true,
      minify: true,
      format: 'esm',
      platform: 'neutral',
      mainFields: ['module', 'main'],
      external: ['undici'],
      write: false,
      metafile: true,
    });
    const atStart = new Set(
      Object.keys(metafile.outputs).filter((path) => metafile.outputs[path]?.entryPoint === '<stdin>'),
    );
    for (const path of atStart) {
      for (const { kind, path: imported, external } of metafile.outputs[path]?.imports ?? []) {
        if (kind === 'import-statement' && !external) atStart.add(imported);
      }
    }
    const files = outputFiles.filter(({ path }) => atStart.has(path.slice(packed.folder.length + 1)));
    // Chunk names contain hashes, which depend on the folder and change the size by a few bytes.
    const code = files.map(({ text }) => text.replace(/(?<=[-"/])[A-Z0-9]{8}(?=[-.])/g, '00000000')).join('');
    const bytes = gzipSync(code, { level: 9 }).length;
    expect(files.length).toBeGreaterThan(0);
    expect(bytes).toBeLessThanOrEqual(budgetBytes);
    console.info(`the client weighs ${bytes} bytes of ${budgetBytes}`);
  });
});

describe('a program that used the client', () => {
  it('exits by itself', async () => {
    const seen = await evaluate(`
      import { Actlog } from '@actlog/client';
      const client = new Actlog({ apiKey: 'al_test_runtimes', baseURL: process.argv[2] });
      await client.sessions.list().toArray();
      console.log(JSON.stringify('done'));
    `);
    expect(seen).toBe('done'); // idle connections do not keep the process alive
  });
});
