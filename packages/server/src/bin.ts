#!/usr/bin/env node
import { isBuiltin } from 'node:module';
import { hideSqliteWarning } from './sqlite-warning.ts';

// An older Node would end with the name of that module before any line of the command runs.
if (isBuiltin('node:sqlite')) {
  hideSqliteWarning();
  const { runCommand } = await import('./cli/command.ts');
  await runCommand();
} else {
  process.stderr.write(`actlog-server needs Node.js 22.19 or newer, and this is ${process.version}.\n`);
  process.exitCode = 1;
}
