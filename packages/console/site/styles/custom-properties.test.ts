import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { paletteStyles } from '../../bundle-site.ts';

const read = (name: string) => readFileSync(join(import.meta.dirname, name), 'utf8');
const tokens = read('tokens.css');
const sheets = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.css'));

function declaredIn(styles: string): string[] {
  return [...styles.matchAll(/(?<![\w(-])(--[\w-]+):/g)].map(([, name = '']) => name);
}

const declared = new Set([
  ...declaredIn(paletteStyles(tokens)),
  ...sheets.flatMap((name) => declaredIn(read(name))),
]);

test.each(sheets)('%s uses only custom properties that exist', (name) => {
  const used = [...read(name).matchAll(/var\((--[\w-]+)/g)].map(([, property]) => property);
  expect(used.filter((property) => !declared.has(property ?? ''))).toEqual([]);
});

test('every design token is used', () => {
  const all = sheets.map(read).join('\n');
  const unused = declaredIn(tokens).filter((property) => !all.includes(`var(${property})`));
  expect(unused).toEqual([]);
});

test('the palette has a color of each scheme for every step that the tokens use', () => {
  const styles = paletteStyles(':root { --a: var(--slate-12); --b: var(--size-control) }');
  expect(styles).toMatch(/^:root \{\n--slate-12: light-dark\(#[0-9a-f]{6}, #[0-9a-f]{6}\);\n\}\n$/);
});
