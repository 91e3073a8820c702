// Builds the documentation: the website as plain files, for the forge's pages, and the compressed copy of it that the
// package contains.

import { globSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import GithubSlugger from 'github-slugger';
import {
  Application,
  type Context,
  Converter,
  type DeclarationReflection,
  type TypeDocOptions,
} from 'typedoc';
import type { PluginOptions } from 'typedoc-plugin-markdown';
import { buildWebsite } from './build/build-website.ts';
import { writeHttpReference } from './build/http-reference/write-http-reference.ts';
import { pagesFolder, root, writePackage } from './build/repository.ts';
import { stagePages } from './build/stage-pages.ts';
import { entryNames, fileNameOf, typescriptFolder } from './build/typescript-pages.ts';

/** Options of TypeDoc and its Markdown plugin that `typedoc.json` does not set. */
const options: Partial<TypeDocOptions & PluginOptions> = {
  plugin: ['typedoc-plugin-markdown'],
  outputs: [{ name: 'markdown', path: join(pagesFolder, typescriptFolder) }],
  outputFileStrategy: 'modules',
  entryFileName: 'index',
  hidePageHeader: true,
  hideBreadcrumbs: true,
  parametersFormat: 'table',
  interfacePropertiesFormat: 'table',
  typeDeclarationFormat: 'table',
  enumMembersFormat: 'table',
};

/**
 * Writes the reference of all packages by TypeDoc: one Markdown page for each entry point, named like its import.
 *
 * @throws Error for warnings of TypeDoc, such as a broken link in a doc comment.
 */
async function writeTypescriptReference(): Promise<void> {
  const app = await Application.bootstrapWithPlugins({ ...options, options: join(root, 'typedoc.json') });
  const names = entryNames();
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, ({ project }: Context) => {
    for (const module of project.children ?? []) nameModule(module, names);
  });
  const project = await app.convert();
  if (project === undefined || app.logger.hasErrors() || app.logger.hasWarnings()) {
    throw new Error('TypeDoc cannot read the doc comments; its messages are above.');
  }
  app.validate(project);
  await app.generateOutputs(project);
  await restoreNames(names.values());
  if (app.logger.hasErrors() || app.logger.hasWarnings()) {
    throw new Error('TypeDoc found problems in the doc comments; its messages are above.');
  }
}

function nameModule(module: DeclarationReflection, names: ReadonlyMap<string, string>): void {
  const file = module.sources?.[0]?.fullFileName ?? '';
  const name = names.get(file);
  if (name === undefined) throw new Error(`No package exports the entry point ${file} of typedoc.json.`);
  module.name = fileNameOf(name);
}

/** Writes the names of entry points into the pages, where TypeDoc used names of files. */
async function restoreNames(names: Iterable<string>): Promise<void> {
  const folder = join(pagesFolder, typescriptFolder);
  for (const page of globSync('**/*.md', { cwd: folder })) {
    const text = await readFile(join(folder, page), 'utf8');
    const restored = [...names]
      .filter((name) => fileNameOf(name) !== name)
      .reduce(
        (changed, name) => changed.replaceAll(new RegExp(`${fileNameOf(name)}(?!\\.md)`, 'g'), name),
        text,
      );
    await writeFile(join(folder, page), withOwnAnchors(restored));
  }
}

/**
 * Returns a page whose links lead to its headings. TypeDoc numbers an anchor if it once meant a property that is now the
 * row of a table.
 */
function withOwnAnchors(text: string): string {
  const slugger = new GithubSlugger();
  const anchors = new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => slugger.slug(heading)));
  return text.replaceAll(/\]\(#([^)]+)-\d+\)/g, (link, anchor: string) =>
    anchors.has(link.slice(3, -1)) ? link : `](#${anchor})`,
  );
}

/** Runs a step, and prints its duration. */
async function timed(name: string, step: () => Promise<unknown>): Promise<void> {
  const startedMs = performance.now();
  await step();
  console.log(`✓ ${name} (${((performance.now() - startedMs) / 1000).toFixed(1)} s)`);
}

await timed('guides and READMEs', stagePages);
await timed('HTTP reference', writeHttpReference);
await timed('TypeScript reference', writeTypescriptReference);
await timed('website', buildWebsite);
await timed('package', writePackage);
