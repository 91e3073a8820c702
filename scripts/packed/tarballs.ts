import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { mapConcurrent } from '@actlog/client/scripts';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { isDeclaredTwice, type Package, publishedPackages } from '../workspace.ts';

const run = promisify(execFile);

/** Maximum number of processes that pack or check packages at once. */
const concurrency = availableParallelism();

/** A packed package. */
export interface Tarball extends Package {
  /** Absolute path of the `.tgz`. */
  readonly file: string;
}

/** Packs every published package as a release does, into a folder that is deleted when the process exits. */
export async function packAll(): Promise<Tarball[]> {
  const destination = mkdtempSync(join(tmpdir(), 'actlog-packed-'));
  process.once('exit', () => rmSync(destination, { recursive: true, force: true }));
  const pack = async ({ folder, manifest }: Package): Promise<Tarball> => {
    const args = ['pack', '--json', '--pack-destination', destination];
    const { stdout } = await run('pnpm', args, { cwd: folder });
    const { filename } = JSON.parse(stdout);
    return { folder, manifest, file: filename.startsWith('/') ? filename : join(destination, filename) };
  };
  return resultsOf(publishedPackages(), pack);
}

/** Returns the tarballs of some packages and of those that they depend on. */
export function neededBy(names: Iterable<string>, tarballs: readonly Tarball[]): Tarball[] {
  const needed = new Set(names);
  // The iteration includes elements that are added to the set meanwhile.
  for (const name of needed) {
    const { manifest } = tarballs.find((tarball) => tarball.manifest.name === name) ?? {};
    const dependencies = { ...manifest?.dependencies, ...manifest?.optionalDependencies };
    for (const dependency of Object.keys(dependencies)) needed.add(dependency);
  }
  return tarballs.filter(({ manifest }) => needed.has(manifest.name));
}

async function resultsOf<Item, Result>(
  items: readonly Item[],
  change: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for await (const result of mapConcurrent(items, change, { concurrency })) results.push(result as Result);
  return results;
}

/** Returns the problems that publint and attw find in each tarball, as lines of text. */
export function problemsOfAll(tarballs: readonly Tarball[]): Promise<string[][]> {
  return resultsOf(tarballs, problemsOf);
}

async function problemsOf({ file, manifest }: Tarball): Promise<string[]> {
  const bytes = readFileSync(file);
  const tarball = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
  const { messages, pkg } = await publint({ pack: { tarball }, strict: true });
  const problems = messages.map((message) => `publint: ${formatMessage(message, pkg)}`);
  try {
    const args = ['--profile', 'esm-only', '--format', 'ascii', '--no-color', '--no-emoji', file];
    // Separate types for `require`, which loads the same ES module, are intended.
    if (isDeclaredTwice(manifest)) args.push('--ignore-rules', 'false-cjs');
    await run('attw', args);
  } catch (error) {
    problems.push(`attw: ${(error as { stdout?: string }).stdout ?? error}`);
  }
  return problems;
}
