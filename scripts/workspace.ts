import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The root of the repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** What the scripts read of a manifest. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Record<string, Record<string, string | Record<string, string>>>;
  readonly bin?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
}

/** One package that gets published. */
export interface Package {
  /** Absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Whether a package has types of their own for `require`; see `commonjs-types.ts`. */
export function isDeclaredTwice({ exports }: Manifest): boolean {
  return Object.values(exports).some((entry) => 'require' in entry);
}

/** Every package that gets published, in the order of their names. */
export function publishedPackages(): Package[] {
  return globSync(['packages/*/package.json', 'packages/adapters/*/package.json'], { cwd: root })
    .map((path) => join(root, path))
    .map((path) => ({
      folder: dirname(path),
      manifest: JSON.parse(readFileSync(path, 'utf8')) as Manifest,
    }))
    .filter(({ manifest }) => manifest.private !== true)
    .sort((a, b) => a.manifest.name.localeCompare(b.manifest.name));
}
