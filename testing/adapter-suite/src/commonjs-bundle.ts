import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';

/** Options of a bundle. */
export interface CommonJsBundleOptions {
  /** Source of the program, in TypeScript. */
  readonly program: string;
  /** Folder from where the bundler finds the packages, and the bundle those that it requires. */
  readonly folder: string;
  /** Packages that the bundle requires instead of containing them. */
  readonly external?: readonly string[];
}

/**
 * Bundles a program to CommonJS and runs it to its end, with a key and with an address where nothing listens.
 *
 * @returns what the program printed
 * @throws Error when it cannot be bundled, or ends with another exit code than 0
 */
export async function runCommonJsBundle({
  program,
  folder,
  external = [],
}: CommonJsBundleOptions): Promise<{ stdout: string; stderr: string }> {
  const own = await mkdtemp(join(folder, 'bundle-'));
  try {
    const entry = join(own, 'program.ts');
    const outfile = join(own, 'program.cjs');
    await writeFile(entry, program);
    await build({
      entryPoints: [entry],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'cjs',
      conditions: ['@actlog/source'],
      external: [...external],
      logLevel: 'error',
    });
    const env = { ...process.env, ACTLOG_API_KEY: 'al_test_bundle', ACTLOG_BASE_URL: 'http://127.0.0.1:9' };
    return await promisify(execFile)(process.execPath, [outfile], { env });
  } finally {
    await rm(own, { recursive: true });
  }
}
