import { readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';

/** The parts of a package.json that are looked at. */
export interface Manifest {
  readonly name?: string;
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>;
}

/** A package in `node_modules`. */
export interface InstalledPackage {
  /** Real path of its folder. */
  readonly folder: string;
  readonly manifest: Manifest;
}

/** Packages that a project can load, found as Node.js finds them. */
export interface InstalledPackages {
  readonly project: Manifest;
  readonly packages: readonly InstalledPackage[];
}

/** Maximum number of packages that are looked at. */
const maxPackages = 20_000;

/** Returns the installed packages of a project; undefined if its folder has no package.json. */
export function readInstalledPackages(dir: string): InstalledPackages | undefined {
  const project = readManifest(dir);
  if (!project) return undefined;
  const packages = new Map<string, InstalledPackage>();
  const queue: InstalledPackage[] = [{ folder: realpathSync(dir), manifest: project }];
  for (let current = queue.shift(); current && packages.size < maxPackages; current = queue.shift()) {
    for (const name of dependenciesOf(current.manifest, current.manifest === project)) {
      const installed = resolvePackage(name, current.folder);
      if (!installed || packages.has(installed.folder)) continue;
      packages.set(installed.folder, installed);
      queue.push(installed);
    }
  }
  return { project, packages: [...packages.values()] };
}

/** Returns the package that code in a folder gets by a name: the one in the nearest `node_modules` above it. */
export function resolvePackage(name: string, from: string): InstalledPackage | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    const manifest = readManifest(path);
    if (manifest) return { folder: realpathSync(path), manifest };
    if (dirname(folder) === folder) return undefined;
  }
}

function dependenciesOf(manifest: Manifest, isProject: boolean): string[] {
  const { dependencies, optionalDependencies, peerDependencies, devDependencies } = manifest;
  const own = isProject ? devDependencies : undefined;
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies, ...own });
}

function readManifest(folder: string): Manifest | undefined {
  try {
    const manifest: unknown = JSON.parse(decodeText(readFileSync(join(folder, 'package.json'))));
    return typeof manifest === 'object' && manifest !== null ? manifest : undefined;
  } catch {
    return undefined;
  }
}
