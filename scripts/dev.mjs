#!/usr/bin/env node
// Runs a task: `node scripts/dev.mjs TASK [ARGS]`.
// Before that, it downloads a supported Node and pnpm if they are missing, and installs the packages of the lockfile.
// It has no dependencies and runs on old versions of Node, because it runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onlyPackageOf, stepsOf, taskNames } from './tasks.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const toolchain = join(root, '.toolchain');
const nodeVersion = '24.21.0';
const pnpmVersion = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager.split('@')[1];
const isWindows = process.platform === 'win32';

class StepFailed extends Error {
  constructor(what, remedy, exitCode = 1) {
    super(`${what}\n  What to do: ${remedy}`);
    this.exitCode = exitCode;
  }
}

function say(text) {
  process.stderr.write(`${text}\n`);
}

/** `true` for a version in `^22.19.0 || >=24.11.0`, the range in package.json's `engines`. */
function isSupported(version) {
  const [major, minor] = version.split('.').map(Number);
  return (major === 22 && minor >= 19) || (major === 24 && minor >= 11) || major > 24;
}

/** Environment of child processes: the toolchain comes first on PATH, and npm's own settings are removed. */
function childEnvironment(binFolders) {
  const env = {};
  for (const [name, value] of Object.entries(process.env)) {
    if (!/^npm_(config|package|lifecycle|execpath|node_execpath)/i.test(name)) env[name] = value;
  }
  const pathName = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  env[pathName] = [...binFolders, join(root, 'node_modules', '.bin'), env[pathName]].join(delimiter);
  // Tests start hundreds of processes from the same sources.
  if (!env.NODE_COMPILE_CACHE) env.NODE_COMPILE_CACHE = join(toolchain, 'compiled');
  return env;
}

function run(command, args, { env, quiet = false, cwd = root } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      shell: isWindows,
      stdio: quiet ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += chunk));
    const forward = (signal) => child.kill(signal);
    process.on('SIGINT', forward);
    process.on('SIGTERM', forward);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      resolve({ code: code ?? (signal ? 1 : 0), output });
    });
  });
}

async function versionOf(command, env) {
  try {
    const { code, output } = await run(command, ['--version'], { env, quiet: true });
    return code === 0 ? output.trim().replace(/^v/, '') : undefined;
  } catch {
    return undefined;
  }
}

async function bring(what, marker, command, args, env) {
  if (existsSync(marker)) return;
  say(`  • bringing ${what} into .toolchain/`);
  mkdirSync(toolchain, { recursive: true });
  const { code, output } = await run(command, args, { env, quiet: true, cwd: toolchain });
  if (code !== 0 || !existsSync(marker)) {
    throw new StepFailed(
      `${what} could not be installed:\n${output.trim().split('\n').slice(-12).join('\n')}`,
      `check that npm reaches its registry, or put ${what} on your PATH yourself, then run the command again.`,
    );
  }
}

async function ensurePnpm() {
  const own = join(toolchain, 'pnpm', 'node_modules', '.bin');
  const found = await versionOf('pnpm', childEnvironment([own]));
  if (found && Number(found.split('.')[0]) >= 12) return own;
  mkdirSync(join(toolchain, 'pnpm'), { recursive: true });
  const args = ['install', '--prefix', join(toolchain, 'pnpm'), '--no-save', '--no-audit', '--no-fund'];
  const marker = join(own, isWindows ? 'pnpm.cmd' : 'pnpm');
  await bring(`pnpm ${pnpmVersion}`, marker, 'npm', [...args, `pnpm@${pnpmVersion}`], childEnvironment([]));
  return own;
}

async function ensureNode(pnpmBin) {
  if (isSupported(process.versions.node)) return undefined;
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const home = join(toolchain, `node-${nodeVersion}`);
  const bin = join(home, 'node_modules', name, 'bin');
  mkdirSync(home, { recursive: true });
  const args = ['--ignore-workspace', '--dir', home, 'add', '--ignore-scripts', `${name}@${nodeVersion}`];
  const marker = join(bin, isWindows ? 'node.exe' : 'node');
  await bring(`Node ${nodeVersion}`, marker, 'pnpm', args, childEnvironment([pnpmBin]));
  return bin;
}

/** Returns a digest of everything that determines node_modules: the lockfile, the workspace and every manifest. */
function manifestsDigest() {
  const hash = createHash('sha256');
  const add = (file) => existsSync(file) && hash.update(file).update(readFileSync(file));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) add(join(root, file));
  for (const folder of ['packages', join('packages', 'adapters'), 'examples']) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder)).sort()) {
      add(join(root, folder, name, 'package.json'));
      add(join(root, folder, name, 'tests', 'lowest', 'package.json'));
    }
  }
  return hash.digest('hex');
}

const stampOfAll = join(root, 'node_modules', '.actlog-installed');

/** Installs the packages that a task needs: all, or one package with its dependencies. */
async function installDependencies(env, only) {
  const stamp = only ? `${stampOfAll}-${only.replaceAll('/', '-')}` : stampOfAll;
  const digest = manifestsDigest();
  const isCurrent = (file) => existsSync(file) && readFileSync(file, 'utf8') === digest;
  if (isCurrent(stampOfAll) || isCurrent(stamp)) return;
  say('  • installing the packages that pnpm-lock.yaml names');
  rmSync(stamp, { force: true });
  const filter = only ? ['--filter', `${only}...`] : [];
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', ...filter];
  const { code, output } = await run('pnpm', args, { env, quiet: true });
  if (code !== 0) {
    throw new StepFailed(
      `pnpm install failed:\n${output.trim().split('\n').slice(-20).join('\n')}`,
      'check that npm reaches its registry; if package.json was edited, run `npm run setup -- --update`.',
    );
  }
  writeFileSync(stamp, digest);
}

async function main([task, ...args]) {
  if (!taskNames.includes(task)) {
    throw new StepFailed(`There is no task "${task ?? ''}".`, `choose one of: ${taskNames.join(', ')}.`);
  }
  const startedAt = Date.now();
  const firstTime = !existsSync(join(root, 'node_modules'));
  if (firstTime) say('Setting up, once:');
  const pnpmBin = await ensurePnpm();
  // Node and the packages are downloaded concurrently: neither needs the other.
  const updating = task === 'setup' && args.includes('--update');
  const [nodeBin] = await Promise.all([
    ensureNode(pnpmBin),
    updating ? undefined : installDependencies(childEnvironment([pnpmBin]), onlyPackageOf(task)),
  ]);
  const env = childEnvironment([nodeBin, pnpmBin].filter(Boolean));
  if (firstTime) say(`  • ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  for (const step of stepsOf(task, args)) {
    const [command, ...stepArgs] = step.command;
    if (step.title) say(`\n▶ ${step.title}`);
    const { code } = await run(command, stepArgs, { env });
    if (code !== 0) {
      throw new StepFailed(`"${step.command.join(' ')}" ended with exit code ${code}.`, step.remedy, code);
    }
  }
}

main(process.argv.slice(2)).catch((error) => {
  say(`\n✗ ${error instanceof StepFailed ? error.message : error.stack}`);
  process.exitCode = error.exitCode ?? 1;
});
