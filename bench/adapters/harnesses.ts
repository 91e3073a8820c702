import { globSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { AdapterHarness } from '../../packages/adapter-suite/src/index.ts';

const root = join(import.meta.dirname, '..', '..');

/** The harnesses of these adapters, or of all, by the adapter's name and its hook. */
export async function harnesses(only: readonly string[]): Promise<Map<string, AdapterHarness>> {
  const found = new Map<string, AdapterHarness>();
  for (const file of globSync('packages/adapters/*/tests/harness.ts', { cwd: root }).sort()) {
    if (only.length > 0 && !only.some((name) => file.includes(`adapters/${name}/`))) continue;
    const exported = Object.values(await import(pathToFileURL(join(root, file)).href));
    for (const value of exported as Partial<AdapterHarness>[]) {
      if (!value?.abilities || !value.run) continue;
      const { sdk = '', hook = '' } = value;
      found.set(
        `${sdk.slice('@actlog/'.length, sdk.lastIndexOf('/'))} ${hook}`.trim(),
        value as AdapterHarness,
      );
    }
  }
  return found;
}
