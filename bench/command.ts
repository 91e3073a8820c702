import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { interleave } from './measure/interleaved-rounds.ts';

/** One-line description of this benchmark. */
export const description = 'Time until `actlog --help` is printed, above a bare Node process';

/** Most that `actlog --help` may take above a bare Node process, in milliseconds. */
const limitMs = 100;

/** Command lines that are measured. */
const lines: Readonly<Record<string, readonly string[]>> = {
  'actlog --help': ['--help'],
  'actlog policies list --help': ['policies', 'list', '--help'],
  'completion of a subcommand': ['__complete', '--', 'se'],
};

const execute = promisify(execFile);

/** Builds the command as it is published: split at dynamic imports, with its dependencies outside. */
async function builtCommand(folder: string): Promise<string> {
  const source = join(import.meta.dirname, '../packages/cli/src/bin.ts');
  await build({
    entryPoints: [source],
    outdir: folder,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node22.19',
    packages: 'external',
    logLevel: 'error',
  });
  return join(folder, 'bin.mjs');
}

/** Returns the milliseconds until a process has ended. */
async function timeOf(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  const startedAt = performance.now();
  await execute(process.execPath, args, { env });
  return performance.now() - startedAt;
}

/** Options: `--rounds=N` (default 15). Fails when `actlog --help` is over its limit. */
export async function run(args: string[]): Promise<Record<string, unknown>> {
  const rounds = Number(args.find((arg) => arg.startsWith('--rounds='))?.slice('--rounds='.length) ?? 15);
  // In the package's own folder, where its dependencies are found.
  const modules = fileURLToPath(new URL('../packages/cli/node_modules/', import.meta.url));
  const folder = await mkdtemp(join(modules, '.bench-'));
  const { NODE_COMPILE_CACHE: _shared, NODE_OPTIONS: _options, ...rest } = process.env;
  const env = { ...rest, NODE_COMPILE_CACHE: join(folder, 'compile-cache') };
  try {
    const command = await builtCommand(folder);
    const table: Record<string, Record<string, number>> = {};
    for (const [name, line] of Object.entries(lines)) {
      const { bare, ours } = await interleave(
        rounds,
        () => timeOf(['--eval', ''], rest),
        () => timeOf([command, ...line], env),
      );
      table[name] = { 'bare Node': bare, command: ours, added: Number((ours - bare).toFixed(1)) };
    }
    const added = table['actlog --help']?.added ?? Number.NaN;
    if (!args.includes('--json')) console.table(table);
    if (!(added <= limitMs)) {
      console.error(
        `\`actlog --help\` adds ${added} ms to a bare Node process; at most ${limitMs} ms are allowed.`,
      );
      process.exitCode = 1;
    }
    return { 'Milliseconds until the end of the process': table, limitMs };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
