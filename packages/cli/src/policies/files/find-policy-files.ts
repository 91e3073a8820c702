import { readdirSync, statSync } from 'node:fs';
import { join, normalize, resolve } from 'node:path';
import { UsageError } from '../../errors/usage-error.ts';

/** Path of commands that are given none. */
export const defaultPath = 'policies';

/**
 * Returns the policy files that paths name, each once. A folder stands for all `.yaml`, `.yml` and `.json` files in it
 * and its folders, by name, except hidden ones and `node_modules`. `-` is standard input.
 *
 * @param paths - files and folders; `policies` if there are none
 * @throws UsageError for a path that does not exist, and for a folder without such files
 */
export function findPolicyFiles(paths: readonly string[]): string[] {
  const found = new Map<string, string>();
  for (const path of paths.length === 0 ? [defaultPath] : paths) {
    for (const file of filesOf(path)) found.set(file === '-' ? file : resolve(file), file);
  }
  return [...found.values()];
}

function filesOf(path: string): string[] {
  if (path === '-') return [path];
  const stats = statSync(path, { throwIfNoEntry: false });
  if (!stats) {
    throw new UsageError(
      `There is no file or folder "${path}". \`actlog policies pull FILE\` creates a file with the policies of the service.`,
    );
  }
  if (!stats.isDirectory()) return [normalize(path)];
  const files = filesIn(path);
  if (files.length > 0) return files;
  throw new UsageError(`The folder "${path}" has no .yaml, .yml or .json files.`);
}

function filesIn(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((left, right) => (left.name < right.name ? -1 : 1));
  return entries.flatMap((entry) => {
    const { name } = entry;
    if (name.startsWith('.') || name === 'node_modules') return [];
    const path = join(folder, name);
    if (entry.isDirectory()) return filesIn(path);
    if (!/\.(ya?ml|json)$/.test(name)) return [];
    // Links to files count, such as those of a volume in Kubernetes. Links to folders could form a circle.
    return statSync(path, { throwIfNoEntry: false })?.isFile() ? [path] : [];
  });
}
