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
  const names = readdirSync(folder).sort();
  return names.flatMap((name) => {
    if (name.startsWith('.') || name === 'node_modules') return [];
    const path = join(folder, name);
    // Follows links, such as those of a volume in Kubernetes.
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory()) return filesIn(path);
    return stats?.isFile() && /\.(ya?ml|json)$/.test(name) ? [path] : [];
  });
}
