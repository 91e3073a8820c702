import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import palette from '@radix-ui/colors';
import type { Plugin } from 'esbuild';

const scales: Readonly<Record<string, Readonly<Record<string, string>>>> = palette;

const tokens = join(import.meta.dirname, 'site', 'styles', 'tokens.css');

/** A use of a step of the palette: `var(--slate-12)`. */
const step = /var\(--([a-z]+)-(\d+)\)/g;

/** Returns the declaration of a step: its color in the light scheme and in the dark one. */
function declarationOf(scale: string, number: string): string | undefined {
  const light = scales[scale]?.[`${scale}${number}`];
  const dark = scales[`${scale}Dark`]?.[`${scale}${number}`];
  return light && dark && `--${scale}-${number}: light-dark(${light}, ${dark});`;
}

/** Returns a style sheet with the steps of the Radix palette that the tokens use. */
export function paletteStyles(tokenStyles: string): string {
  const uses = new Map(
    [...tokenStyles.matchAll(step)].map(([use, scale = '', number = '']) => [use, { scale, number }]),
  );
  const declarations = Array.from(uses.values(), ({ scale, number }) => declarationOf(scale, number));
  return `:root {\n${declarations.filter(Boolean).join('\n')}\n}\n`;
}

/** Plugin that resolves `@import "palette"` in a style sheet to the used steps of the Radix palette. */
export const palettePlugin: Plugin = {
  name: 'palette',
  setup(build) {
    build.onResolve({ filter: /^palette$/ }, ({ path }) => ({ path, namespace: 'palette' }));
    build.onLoad({ filter: /.*/, namespace: 'palette' }, async () => ({
      contents: paletteStyles(await readFile(tokens, 'utf8')),
      loader: 'css',
    }));
  },
};
