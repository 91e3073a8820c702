import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdapterHarness } from '../testing/adapter-suite/src/index.ts';
import { root } from './workspace.ts';

/**
 * The harnesses of these adapters, by the names of their folders; of all adapters without one.
 *
 * @throws Error when an adapter's file exports none: whatever is made from the harnesses would leave it out.
 */
export async function adapterHarnesses(only: readonly string[] = []): Promise<AdapterHarness[]> {
  const found: AdapterHarness[] = [];
  for (const file of globSync('packages/adapters/*/tests/harness.ts', { cwd: root }).sort()) {
    if (only.length > 0 && !only.some((name) => file.includes(`adapters/${name}/`))) continue;
    const exported = Object.values(await import(pathToFileURL(join(root, file)).href));
    const harnesses = exported.filter(isHarness);
    if (harnesses.length === 0) throw new Error(`${file} exports no harness.`);
    found.push(...harnesses);
  }
  return found;
}

function isHarness(value: unknown): value is AdapterHarness {
  return typeof value === 'object' && value !== null && 'abilities' in value;
}
