import { globSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sections } from '../site/navigation.ts';
import { homePageText } from './home-page.ts';
import { homePage, pagePathOf } from './page-path.ts';
import { pagesFolder, root } from './repository.ts';

/** Files of the repository that must have a page. */
const patterns = ['docs/*.md', 'packages/*/README.md', 'packages/adapters/*/README.md'];

/** Returns the guides and the READMEs of packages, by their paths from the root of the repository. */
function filesWithPages(): string[] {
  return globSync(patterns, { cwd: root })
    .map((path) => path.replaceAll('\\', '/'))
    .sort();
}

/** Returns the files of the repository with a page, by the path of that page. */
export function pageSources(): Map<string, string> {
  return new Map([
    [homePage, 'README.md'],
    ...filesWithPages().flatMap((file) => {
      const page = pagePathOf(file);
      return page === undefined ? [] : [[page, file] as const];
    }),
  ]);
}

/**
 * Copies the guides and READMEs to the folder that VitePress reads, and writes the home page.
 *
 * @throws Error if the navigation lacks one of them, or names a file that does not exist.
 */
export async function stagePages(): Promise<void> {
  const sources = pageSources();
  checkNavigation(new Set(filesWithPages()));
  await rm(pagesFolder, { recursive: true, force: true });
  for (const [page, source] of sources) {
    const target = join(pagesFolder, page);
    await mkdir(dirname(target), { recursive: true });
    if (page === homePage) {
      await writeFile(target, homePageText(await readFile(join(root, source), 'utf8')));
    } else {
      await cp(join(root, source), target);
    }
  }
  const publicFolder = join(pagesFolder, 'public');
  await mkdir(publicFolder);
  await cp(join(root, 'packages/console/site/icon.svg'), join(publicFolder, 'icon.svg'));
}

function checkNavigation(files: ReadonlySet<string>): void {
  const named = new Set(
    sections.flatMap(({ groups }) => groups.flatMap(({ pages }) => pages.map(({ source }) => source))),
  );
  const missing = [...files].filter((file) => !named.has(file));
  const unknown = [...named].filter((file) => !file.startsWith('reference/') && !files.has(file));
  if (missing.length > 0) {
    throw new Error(`packages/docs/site/navigation.ts has no entry for ${missing.join(', ')}.`);
  }
  if (unknown.length > 0) {
    throw new Error(`packages/docs/site/navigation.ts names ${unknown.join(', ')}, which do not exist.`);
  }
}
