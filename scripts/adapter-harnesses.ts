import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdapterHarness } from '../testing/adapter-suite/src/index.ts';
import { root } from './workspace.ts';

/** Files with harnesses. Those of hand-written loops are in the recorder. */
const files = ['packages/adapters/*/tests/harness.ts', 'packages/recorder/tests/loop/harness.ts'];

/**
 * Returns the harnesses of adapters by the names of their folders. Default: all adapters.
 *
 * @throws Error when a file exports no harness, because the generated tables would omit its adapter
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

/** Returns the name of an adapter after `@actlog/`. */
function nameOf(file: string): string {
  return /adapters\/([^/]+)\//.exec(file)?.[1] ?? 'recorder/loop';
}

function isHarness(value: unknown): value is AdapterHarness {
  return typeof value === 'object' && value !== null && 'abilities' in value;
}
