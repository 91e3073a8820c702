// Brings what a task needs: a supported Node and pnpm into .toolchain/, and packages of the lockfile into node_modules/.
// It has no dependencies and runs on old versions of Node, because it runs before anything is installed.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { InstallProgress } from './install-progress.mjs';

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const toolchain = join(root, '.toolchain');
const nodeVersion = '24.21.0';
const pnpmVersion = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager.split('@')[1];
const isWindows = process.platform === 'win32';

/** Error that says which step failed, and what to do. */
export class StepFailed extends Error {
  constructor(what, remedy, exitCode = 1) {
    super(`${what}\n  What to do: ${remedy}`);
    this.exitCode = exitCode;
  }
}

/** Prints a line about the set-up, apart from the output of the task. */
export function say(text) {
  process.stderr.write(`${text}\n`);
}

/**
 * Packages to install, by name. `demo` is what `npm start` and the command `actlog` run with: the production
 * dependencies of the quick start, of the command, and of the root, which names what is a peer or a build tool elsewhere.
 * Its lockfile is the one that `all` verifies, so it is trusted.
 */
const installations = {
  all: [],
  demo: [
    '--prod',
    '--trust-lockfile',
    '--filter-prod=@actlog-examples/quickstart...',
    '--filter-prod=actlog...',
    '--filter-prod=actlog-workspace',
  ],
};

/** `true` for a version in `^22.19.0 || >=24.11.0`, the range in the `engines` of the packages. */
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
  // Tests start many processes from the same sources.
  if (!env.NODE_COMPILE_CACHE) env.NODE_COMPILE_CACHE = join(toolchain, 'compiled');
  return env;
}

/**
 * Runs a command to its end, and forwards signals to it.
 *
 * @param {object} options `onOutput` receives the output, which otherwise goes to the terminal
 * @returns the exit code, and the signal that ended the command
 */
export function run(command, args, { env, onOutput, cwd = root } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd,
      env,
      shell: isWindows,
      stdio: onOutput ? ['ignore', 'pipe', 'pipe'] : 'inherit',
    });
    for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', onOutput);
    const forward = (signal) => child.kill(signal);
    process.on('SIGINT', forward);
    process.on('SIGTERM', forward);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', forward);
      process.off('SIGTERM', forward);
      resolve({ code: code ?? (signal ? 1 : 0), signal });
    });
  });
}

async function runQuietly(command, args, options) {
  let output = '';
  const { code } = await run(command, args, { ...options, onOutput: (text) => (output += text) });
  return { code, output };
}

async function isInstalled(command, majorVersion, env) {
  try {
    const { code, output } = await runQuietly(command, ['--version'], { env });
    return code === 0 && Number(output.trim().split('.')[0]) >= majorVersion;
  } catch {
    return false;
  }
}

async function bring(what, marker, command, args, env) {
  if (existsSync(marker)) return;
  say(`  • bringing ${what} into .toolchain/`);
  const { code, output } = await runQuietly(command, args, { env, cwd: toolchain });
  if (code !== 0 || !existsSync(marker)) {
    throw new StepFailed(
      `${what} could not be installed:\n${output.trim().split('\n').slice(-12).join('\n')}`,
      `check that npm reaches its registry, or put ${what} on your PATH yourself, then run the command again.`,
    );
  }
}

/** Returns the folder with pnpm; undefined if the PATH has one. */
async function ensurePnpm() {
  const own = join(toolchain, 'pnpm', 'node_modules', '.bin');
  const marker = join(own, isWindows ? 'pnpm.cmd' : 'pnpm');
  if (existsSync(marker)) return own;
  if (await isInstalled('pnpm', 12, childEnvironment([]))) return undefined;
  mkdirSync(join(toolchain, 'pnpm'), { recursive: true });
  const args = ['install', '--prefix', join(toolchain, 'pnpm'), '--no-save', '--no-audit', '--no-fund'];
  await bring(`pnpm ${pnpmVersion}`, marker, 'npm', [...args, `pnpm@${pnpmVersion}`], childEnvironment([]));
  return own;
}

/** Returns the folder with a supported Node; undefined if this process runs on one. */
async function ensureNode(pnpmBin) {
  if (isSupported(process.versions.node)) return undefined;
  const name = `node-${isWindows ? 'win' : process.platform}-${process.arch}`;
  const home = join(toolchain, `node-${nodeVersion}`);
  const bin = join(home, 'node_modules', name, 'bin');
  mkdirSync(home, { recursive: true });
  const args = ['--ignore-workspace', '--dir', home, 'add', '--ignore-scripts', `${name}@${nodeVersion}`];
  const marker = join(bin, isWindows ? 'node.exe' : 'node');
  await bring(`Node ${nodeVersion}`, marker, 'pnpm', args, childEnvironment([pnpmBin].filter(Boolean)));
  return bin;
}

/** Returns a digest of everything that determines node_modules: the lockfile, the workspace and every manifest. */
function manifestsDigest() {
  const hash = createHash('sha256');
  const add = (file) => existsSync(file) && hash.update(file).update(readFileSync(file));
  for (const file of ['pnpm-lock.yaml', 'pnpm-workspace.yaml', 'package.json']) add(join(root, file));
  for (const folder of ['packages', join('packages', 'adapters'), 'examples', 'testing']) {
    if (!existsSync(join(root, folder))) continue;
    for (const name of readdirSync(join(root, folder)).sort()) {
      add(join(root, folder, name, 'package.json'));
      add(join(root, folder, name, 'tests', 'lowest', 'package.json'));
    }
  }
  return hash.digest('hex');
}

const stampOf = (installation) => join(root, 'node_modules', `.actlog-installed-${installation}`);

/** Installs packages, and shows how far it is. */
async function installPackages(installation, env) {
  const digest = manifestsDigest();
  const isCurrent = (file) => existsSync(file) && readFileSync(file, 'utf8') === digest;
  if (isCurrent(stampOf('all')) || isCurrent(stampOf(installation))) return;
  for (const name of Object.keys(installations)) rmSync(stampOf(name), { force: true });
  const progress = new InstallProgress(process.stderr);
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=ndjson'];
  const { code } = await run('pnpm', [...args, ...installations[installation]], {
    env,
    onOutput: (text) => progress.read(text),
  });
  progress.end();
  if (code !== 0) {
    throw new StepFailed(
      `pnpm install failed:\n${progress.problems()}`,
      'check that npm reaches its registry; if package.json was edited, run `npm run setup -- --update`.',
    );
  }
  writeFileSync(stampOf(installation), digest);
}

/**
 * Installs what is missing.
 *
 * @param {'all' | 'demo' | undefined} installation packages to install; undefined for none
 * @returns the environment for commands of the task, and the seconds that each phase took
 * @throws StepFailed if something cannot be installed
 */
export async function prepare(installation) {
  const phases = [];
  const timed = async (name, work) => {
    const startedAt = Date.now();
    const result = await work;
    phases.push([name, (Date.now() - startedAt) / 1000]);
    return result;
  };
  const startedAt = Date.now();
  const firstTime = !existsSync(join(root, 'node_modules'));
  if (firstTime) say('Setting up, once:');
  const pnpmBin = await timed('pnpm', ensurePnpm());
  // Node and the packages are downloaded concurrently: neither needs the other.
  const [nodeBin] = await Promise.all([
    timed('Node', ensureNode(pnpmBin)),
    installation &&
      timed('packages', installPackages(installation, childEnvironment([pnpmBin].filter(Boolean)))),
  ]);
  if (firstTime) say(`  • ready after ${((Date.now() - startedAt) / 1000).toFixed(1)} s\n`);
  return { env: childEnvironment([nodeBin, pnpmBin].filter(Boolean)), phases };
}
