#!/usr/bin/env node
import { enableCompileCache, isBuiltin } from 'node:module';

// On an older Node.js, a subcommand would fail with an error about `node:sqlite`.
if (isBuiltin('node:sqlite')) {
  // Loads the sources of later runs from a cache of compiled code, which halves their start time.
  enableCompileCache?.();
  const { run } = await import('./run.ts');
  process.exitCode = await run(process.argv.slice(2));
} else {
  process.stderr.write(`actlog needs Node.js 22.19 or newer, and this is ${process.version}.\n`);
  process.exitCode = 1;
}
