import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { decodeText } from '@actlog/recorder/short-lived';

/** A package manager and its commands. */
export interface PackageManager {
  readonly name: 'npm' | 'pnpm' | 'yarn' | 'bun';
  /** Command that adds packages, to be followed by their names. */
  readonly add: string;
  /** Command that removes needless copies of packages. */
  readonly dedupe: string;
  /** Command that runs the command of a package, to be followed by its name. */
  readonly execute: string;
}

const managers = {
  npm: { name: 'npm', add: 'npm install', dedupe: 'npm dedupe', execute: 'npx' },
  pnpm: { name: 'pnpm', add: 'pnpm add', dedupe: 'pnpm dedupe', execute: 'pnpm dlx' },
  yarn: { name: 'yarn', add: 'yarn add', dedupe: 'yarn dedupe', execute: 'yarn dlx' },
  bun: { name: 'bun', add: 'bun add', dedupe: 'bun install --force', execute: 'bunx' },
} as const satisfies Record<string, PackageManager>;

const lockfiles: Readonly<Record<string, keyof typeof managers>> = {
  'pnpm-lock.yaml': 'pnpm',
  'yarn.lock': 'yarn',
  'bun.lock': 'bun',
  'bun.lockb': 'bun',
  'package-lock.json': 'npm',
  'npm-shrinkwrap.json': 'npm',
};

/**
 * Returns the package manager of a project: that of the nearest lockfile, else the one that `packageManager` of the
 * nearest package.json names, else npm. The lockfile of a monorepo is in a folder above.
 */
export function packageManagerOf(dir: string): PackageManager {
  let named: keyof typeof managers | undefined;
  for (let folder = dir; ; folder = dirname(folder)) {
    const lockfile = Object.keys(lockfiles).find((file) => existsSync(join(folder, file)));
    if (lockfile !== undefined) return managers[lockfiles[lockfile] as keyof typeof managers];
    named ??= namedManager(folder);
    if (dirname(folder) === folder) return managers[named ?? 'npm'];
  }
}

function namedManager(folder: string): keyof typeof managers | undefined {
  try {
    const manifest = JSON.parse(decodeText(readFileSync(join(folder, 'package.json'))));
    const [name = ''] = String(manifest.packageManager ?? '').split('@');
    return Object.hasOwn(managers, name) ? (name as keyof typeof managers) : undefined;
  } catch {
    return undefined;
  }
}
