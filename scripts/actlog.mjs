#!/usr/bin/env node
// The command `actlog` of this checkout, from its sources: `npx actlog ARGS`. It brings a supported Node and the packages
// if they are missing, so that it works on a bare machine as the published command does.
// While `npm start -- --keep` runs, the command uses that server unless another one is named.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { prepare, root, run, StepFailed, say } from './toolchain.mjs';

/** Returns the address and key of a running demo as variables. */
function demoConnection() {
  const file = join(root, '.actlog', 'demo.json');
  if (process.env.ACTLOG_BASE_URL || process.env.ACTLOG_API_KEY || !existsSync(file)) return {};
  const { baseUrl, apiKey } = JSON.parse(readFileSync(file, 'utf8'));
  return { ACTLOG_BASE_URL: baseUrl, ACTLOG_API_KEY: apiKey };
}

async function main(args) {
  const { env } = await prepare('demo');
  Object.assign(env, demoConnection());
  const source = join(root, 'packages/cli/src/bin.ts');
  const options = ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning'];
  const { code, signal } = await run('node', [...options, source, ...args], { env, cwd: process.cwd() });
  if (signal) process.kill(process.pid, signal);
  process.exitCode = code;
}

main(process.argv.slice(2)).catch((error) => {
  say(`✗ ${error instanceof StepFailed ? error.message : error.stack}`);
  process.exitCode = error.exitCode ?? 1;
});
