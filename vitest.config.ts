import { globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

// One project a package, found by its manifest, so that a new package needs no edit here.
const projects = globSync([
  'packages/*/package.json',
  'packages/adapters/*/package.json',
  'bench/package.json',
])
  .map((manifest) => dirname(manifest))
  .map((folder) => ({
    extends: true as const,
    root: `./${folder}`,
    test: {
      name: basename(folder),
      include: ['src/**/*.test.ts', 'tests/**/*.test.ts', '*.test.ts'],
      typecheck: {
        enabled: true,
        tsconfig: `${import.meta.dirname}/tsconfig.json`,
        include: ['src/**/*.test-d.ts', 'tests/**/*.test-d.ts'],
      },
    },
  }));

export default defineConfig({
  // Tests run the sources: no build stands between an edit and its test.
  ssr: { resolve: { conditions: ['@actlog/source', ...defaultServerConditions] } },
  test: {
    testTimeout: 30_000,
    hookTimeout: 30_000,
    isolate: false,
    passWithNoTests: false,
    projects,
    coverage: { provider: 'v8', include: ['packages/**/src/**/*.ts'] },
  },
});
