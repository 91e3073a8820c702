import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { publishedPackages } from './workspace.ts';

/** The line that states the version of a package in its sources. */
export const versionLine = /^export const version = '([^']*)';$/m;

/** A package whose sources state its version. */
export interface StatedVersion {
  readonly name: string;
  /** Version of the manifest. */
  readonly version: string;
  /** Path of the source file. */
  readonly file: string;
  readonly text: string;
}

/**
 * Returns the packages whose sources state their version.
 *
 * @throws Error when a package states it twice
 */
export function statedVersions(): StatedVersion[] {
  return publishedPackages().flatMap(({ folder, manifest: { name, version } }) => {
    const found = globSync('src/**/*.ts', { cwd: folder })
      .map((path) => ({
        name,
        version,
        file: join(folder, path),
        text: readFileSync(join(folder, path), 'utf8'),
      }))
      .filter(({ text }) => versionLine.test(text));
    if (found.length > 1) {
      throw new Error(
        `${name} states its version in ${found.map(({ file }) => file).join(' and ')}; keep one.`,
      );
    }
    return found;
  });
}
