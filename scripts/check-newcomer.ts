// Follows the quick start like a new user: with an empty home folder, the packages as npm would install them, and every
// line and file as printed. Fails if the first event takes too long to appear.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Newcomer } from './newcomer/newcomer.ts';
import { waysOf } from './newcomer/page-steps.ts';
import { TarballRegistry } from './newcomer/tarball-registry.ts';
import { packAll } from './packed/tarballs.ts';
import { root } from './workspace.ts';

const page = 'docs/quick-start.md';
const limitSeconds = 300;

const registry = await TarballRegistry.start(await packAll());
try {
  const ways = waysOf(readFileSync(join(root, page), 'utf8'));
  if (ways.length === 0) throw new Error('the page has no steps');
  for (const way of ways) {
    const newcomer = new Newcomer(registry.url);
    try {
      const steps = await newcomer.follow(way, AbortSignal.timeout(limitSeconds * 1000));
      const total = steps.reduce((sum, { seconds }) => sum + seconds, 0);
      console.log(
        `✓ ${way.title}: the first event after ${total.toFixed(1)} s, of ${limitSeconds} s at most`,
      );
      for (const { what, seconds } of steps) console.log(`  ${seconds.toFixed(1).padStart(6)} s  ${what}`);
    } finally {
      await newcomer.leave();
    }
  }
} catch (error) {
  console.error(`✗ ${page}: ${(error as Error).message}`);
  process.exitCode = 1;
} finally {
  await registry.close();
}
