import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the index does not load a schema library', () => {
  const seen = new Set<string>();
  const walk = (file: URL) => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const source = readFileSync(file, 'utf8');
    // Only value imports and re-exports count: `import type` and `export type` are erased.
    for (const [, specifier] of source.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '([^']+)';/gms)) {
      if (specifier?.startsWith('.')) walk(new URL(specifier, file));
      else seen.add(String(specifier));
    }
  };
  walk(new URL('./index.ts', import.meta.url));
  expect([...seen].filter((name) => !name.startsWith('file:'))).toEqual([]);
});
