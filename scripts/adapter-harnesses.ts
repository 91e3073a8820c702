import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdapterHarness } from '../testing/adapter-suite/src/index.ts';
import { root } from './workspace.ts';

/** The files with harnesses. Loops over any provider belong to the recorder. */
const files = ['packages/adapters/*/tests/harness.ts', 'packages/recorder/tests/loop/harness.ts'];

/**
 * The harnesses of these adapters, by the names of their folders; of all adapters without one.
 *
 * @throws Error when an adapter's file exports none: whatever is made from the harnesses would leave it out.
 */
export async function adapterHarnesses(only: readonly string[] = []): Promise<AdapterHarness[]> {
  const found: AdapterHarness[] = [];
  for (const file of globSync(files, { cwd: root }).sort()) {
    if (only.length > 0 && !only.includes(nameOf(file))) continue;
    const exported = Object.values(await import(pathToFileURL(join(root, file)).href));
    const harnesses = exported.filter(isHarness);
    if (harnesses.length === 0) throw new Error(`${file} exports no harness.`);
    found.push(...harnesses);
  }
  return found;
}

/** The name of an adapter after `@actlog/`. */
function nameOf(file: string): string {
  return /adapters\/([^/]+)\//.exec(file)?.[1] ?? 'recorder/loop';
}

function isHarness(value: unknown): value is AdapterHarness {
  return typeof value === 'object' && value !== null && 'abilities' in value;
}
