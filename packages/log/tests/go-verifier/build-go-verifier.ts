import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { type Apt, unpackedPackages } from '../debian-packages.ts';

const run = promisify(execFile);

/** Folder for what is downloaded and built once. */
const cache = join(import.meta.dirname, '../../../../node_modules/.cache/go-verifier');

/** Debian's package of golang.org/x/mod, and the one that names its current Go. */
const modulePackage = 'golang-golang-x-mod-dev';
const goPackage = 'golang-go';

/** A running verifier. */
export interface GoVerifier {
  /** Sends a request. Returns its result. */
  request(request: Readonly<Record<string, unknown>>): Promise<string>;
  close(): void;
}

/**
 * Starts the program in `main.go`: Go's implementation of notes and logs, as the packages of Debian and Ubuntu have it.
 * What is missing is downloaded with `apt-get`, without root, and built into `node_modules/.cache`.
 *
 * @throws Error if the packages cannot be downloaded, or do not compile
 */
export async function startGoVerifier(): Promise<GoVerifier> {
  const program = spawn(await buildGoVerifier(), { stdio: ['pipe', 'pipe', 'inherit'] });
  const waiting: ((line: string) => void)[] = [];
  createInterface(program.stdout).on('line', (line) => waiting.shift()?.(line));
  return {
    request: (request) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        program.stdin.write(`${JSON.stringify(request)}\n`);
      }),
    close: () => program.stdin.end(),
  };
}

async function buildGoVerifier(): Promise<string> {
  const source = join(import.meta.dirname, 'main.go');
  const digest = createHash('sha256')
    .update(await readFile(source))
    .digest('hex')
    .slice(0, 16);
  const program = join(cache, `go-verifier-${digest}`);
  if (existsSync(program)) return program;
  await mkdir(cache, { recursive: true });
  const system = await unpackedPackages(cache, goPackages);
  const [goFolder] = (await readdir(join(system, 'usr/lib'))).filter((name) => /^go-\d/.test(name));
  if (!goFolder) throw new Error(`${system} has no Go; delete ${cache} and run the test again.`);
  const goRoot = join(system, 'usr/lib', goFolder);
  const unfinished = `${program}.${process.pid}`;
  await run(join(goRoot, 'bin/go'), ['build', '-o', unfinished, source], {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: cache,
      GOROOT: goRoot,
      // Debian's packages are sources in the layout from before modules.
      GOPATH: join(system, 'usr/share/gocode'),
      GOCACHE: join(cache, 'build'),
      GO111MODULE: 'off',
      GOTOOLCHAIN: 'local',
      CGO_ENABLED: '0',
    },
  });
  await rename(unfinished, program);
  return program;
}

/** Returns the packages that are needed: the current Go, and its module. */
async function goPackages(apt: Apt): Promise<string[]> {
  const { stdout: depends } = await apt('apt-cache', ['show', '--no-all-versions', goPackage]);
  const version = /golang-(\d+\.\d+)-go/.exec(depends)?.[1];
  if (!version) throw new Error(`The package ${goPackage} depends on no Go.`);
  return [`golang-${version}-go`, `golang-${version}-src`, modulePackage];
}
