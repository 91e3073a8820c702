import { existsSync, globSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { defaultServerConditions } from 'vite';
import { configDefaults, defineConfig } from 'vitest/config';

// One project a package, found by its manifest, so that a new package needs no edit here.
const folders = globSync([
  'packages/*/package.json',
  'packages/adapters/*/package.json',
  'bench/package.json',
]).map((manifest) => dirname(manifest));

const projects = folders.map((folder) => ({
  extends: true as const,
  root: `./${folder}`,
  test: {
    name: basename(folder),
    include: ['src/**/*.test.ts', 'tests/**/*.test.ts', '*.test.ts'],
    exclude: [...configDefaults.exclude, 'tests/postgres/**'],
    typecheck: {
      enabled: true,
      tsconfig: `${import.meta.dirname}/tsconfig.json`,
      include: ['src/**/*.test-d.ts', 'tests/**/*.test-d.ts'],
    },
  },
}));

// A package with a PostgreSQL of its own has its tests run on that too.
const onPostgres = folders
  .filter((folder) => existsSync(`${folder}/tests/postgres/global-setup.ts`))
  .map((folder) => ({
    extends: true as const,
    root: `./${folder}`,
    test: {
      name: `${basename(folder)}-postgres`,
      include: ['tests/**/*.test.ts'],
      globalSetup: [`${import.meta.dirname}/${folder}/tests/postgres/global-setup.ts`],
      setupFiles: [`${import.meta.dirname}/${folder}/tests/postgres/skip-when-missing.ts`],
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
    projects: [...projects, ...onPostgres],
    coverage: { provider: 'v8', include: ['packages/**/src/**/*.ts'] },
  },
});
