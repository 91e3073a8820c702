import { builtinModules } from 'node:module';
import { build } from 'esbuild';

/** Bundles a worker as Cloudflare's tools do, with the sources of this repository. */
export async function bundled(path: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [path],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    target: 'es2024',
    mainFields: ['module', 'main'],
    conditions: ['@actlog/source', 'workerd', 'worker', 'browser', 'import'],
    external: ['node:*', 'cloudflare:*', ...builtinModules],
    write: false,
    logLevel: 'error',
  });
  return outputFiles[0]?.text ?? '';
}
