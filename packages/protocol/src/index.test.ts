import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the index loads no schema library: a caller who only sends events does not pay for it', () => {
  const seen = new Set<string>();
  const walk = (file: URL) => {
    if (seen.has(file.href)) return;
    seen.add(file.href);
    const source = readFileSync(file, 'utf8');
    // Value imports and re-exports only: `import type` and `export type` vanish.
    for (const [, specifier] of source.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '([^']+)';/gms)) {
      if (specifier?.startsWith('.')) walk(new URL(specifier, file));
      else seen.add(String(specifier));
    }
  };
  walk(new URL('./index.ts', import.meta.url));
  expect([...seen].filter((name) => !name.startsWith('file:'))).toEqual([]);
});
