import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from './repository.ts';

/** Folder of the pages, from the root of the site. */
export const typescriptFolder = 'reference/typescript';

/** Returns the import path of each entry point by its source, such as `@actlog/client/records`. */
export function entryNames(): Map<string, string> {
  const manifests = globSync(['packages/*/package.json', 'packages/adapters/*/package.json'], { cwd: root });
  return new Map(
    manifests.flatMap((path) => {
      const { name, exports = {} } = JSON.parse(readFileSync(join(root, path), 'utf8')) as {
        readonly name: string;
        readonly exports?: Readonly<Record<string, { readonly '@actlog/source'?: string }>>;
      };
      return Object.entries(exports).flatMap(([entry, { '@actlog/source': source }]) =>
        source === undefined
          ? []
          : [[join(root, dirname(path), source), join(name, entry).replaceAll('\\', '/')] as const],
      );
    }),
  );
}

/**
 * Returns the file name of an entry point: `@actlog/client-records` for `@actlog/client/records`. A folder beside a page
 * of the same name has the same address as the page on some servers.
 */
export function fileNameOf(name: string): string {
  return name.replace(/^(@[^/]+\/[^/]+)\//, '$1-');
}

/** Returns the pages of the reference, by name: one for each entry point of `typedoc.json`. */
export function typescriptPages(): { readonly page: string; readonly title: string }[] {
  const { entryPoints } = JSON.parse(readFileSync(join(root, 'typedoc.json'), 'utf8')) as {
    readonly entryPoints: readonly string[];
  };
  const sources = new Set(globSync([...entryPoints], { cwd: root }).map((path) => join(root, path)));
  return [...entryNames()]
    .filter(([source]) => sources.has(source))
    .map(([, name]) => name)
    .sort()
    .map((title) => ({ page: `${typescriptFolder}/${fileNameOf(title)}.md`, title }));
}
