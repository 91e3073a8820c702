// Builds the documentation: the website as plain files, for the forge's pages, and the compressed copy of it that the
// package contains.

import { buildWebsite } from './build/build-website.ts';
import { writeHttpReference } from './build/http-reference/write-http-reference.ts';
import { stagePages } from './build/stage-pages.ts';
import { writePackage } from './build/write-package.ts';
import { writeTypescriptReference } from './build/write-typescript-reference.ts';

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
