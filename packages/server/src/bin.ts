#!/usr/bin/env node
import { isBuiltin } from 'node:module';
import { hideSqliteWarning } from './sqlite-warning.ts';

// On an older Node.js, the import would fail with an error about `node:sqlite`.
if (isBuiltin('node:sqlite')) {
  hideSqliteWarning();
  const { runCommand } = await import('./cli/command.ts');
  await runCommand();
} else {
  process.stderr.write(`actlog-server needs Node.js 22.19 or newer, and this is ${process.version}.\n`);
  process.exitCode = 1;
}
