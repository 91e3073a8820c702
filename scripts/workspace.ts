import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Root of the repository. */
export const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Used properties of a manifest. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly exports: Record<string, Record<string, string | Record<string, string>>>;
  readonly bin?: Record<string, string>;
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
  readonly peerDependencies?: Record<string, string>;
  readonly peerDependenciesMeta?: Record<string, { readonly optional?: boolean }>;
}

/** A published package. */
export interface Package {
  /** Absolute path. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** `true` if a package has separate types for `require`; see `commonjs-types.ts`. */
export function isDeclaredTwice({ exports }: Manifest): boolean {
  return Object.values(exports).some((entry) => 'require' in entry);
}

/** Returns every published package, sorted by name. */
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
