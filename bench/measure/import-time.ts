import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { median } from './interleaved-rounds.ts';

const run = promisify(execFile);

/** Milliseconds above a bare Node process, by import. */
export type ImportTimes = Record<string, number>;

/**
 * Measures the time that an import adds to a bare Node process, in interleaved processes. The client is bundled first,
 * like its build, because type stripping would be counted otherwise.
 */
export async function measureImports(rounds: number): Promise<ImportTimes> {
  const folder = await mkdtemp(join(tmpdir(), 'actlog-import-'));
  try {
    const client = join(folder, 'client.mjs');
    await build({
      entryPoints: [fileURLToPath(import.meta.resolve('@actlog/client'))],
      outfile: client,
      bundle: true,
      format: 'esm',
      platform: 'node',
      conditions: ['@actlog/source'],
      external: ['undici'],
      logLevel: 'error',
    });
    const sources: Record<string, string> = {
      node: '',
      client: `import ${JSON.stringify(pathToFileURL(client).href)}`,
      undici: `import ${JSON.stringify(import.meta.resolve('undici'))}`,
    };
    const times: Record<string, number[]> = {};
    for (let round = 0; round < rounds; round += 1) {
      for (const [name, source] of Object.entries(sources)) {
        const startedAt = performance.now();
        await run(process.execPath, ['--input-type=module', '--eval', source]);
        times[name] ??= [];
        times[name].push(performance.now() - startedAt);
      }
    }
    const bare = median(times.node ?? []);
    return Object.fromEntries(
      Object.entries(times).map(([name, all]) => [
        name === 'node' ? 'bare Node itself' : name,
        Number((name === 'node' ? bare : median(all) - bare).toFixed(1)),
      ]),
    );
  } finally {
    await rm(folder, { recursive: true });
  }
}
