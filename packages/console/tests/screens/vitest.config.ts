import { join } from 'node:path';
import { defaultServerConditions } from 'vite';
import { defineConfig } from 'vitest/config';

/** Views of every page at every size, which take longer than a test of behavior: `npm run test:all -- screens`. */
export default defineConfig({
  ssr: {
    resolve: {
      conditions: ['@actlog/source', ...defaultServerConditions.filter((name) => name !== 'module')],
    },
  },
  test: {
    root: join(import.meta.dirname, '..', '..'),
    include: ['tests/screens/**/*.test.ts'],
    testTimeout: 240_000,
    hookTimeout: 60_000,
    setupFiles: [join(import.meta.dirname, '..', '..', '..', '..', 'scripts', 'test-setup.ts')],
    passWithNoTests: false,
  },
});
