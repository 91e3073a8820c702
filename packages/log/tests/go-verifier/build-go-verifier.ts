import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

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
  const system = await unpackedPackages();
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

/** Returns a folder with the unpacked packages, as they would be installed below `/`. */
async function unpackedPackages(): Promise<string> {
  const system = join(cache, 'system');
  if (existsSync(system)) return system;
  const folder = await mkdtemp(join(cache, 'download-'));
  try {
    const apt = await aptWithoutRoot(folder);
    const { stdout: depends } = await apt('apt-cache', ['show', '--no-all-versions', goPackage]);
    const version = /golang-(\d+\.\d+)-go/.exec(depends)?.[1];
    if (!version) throw new Error(`The package ${goPackage} depends on no Go.`);
    const packages = [`golang-${version}-go`, `golang-${version}-src`, modulePackage];
    await apt('apt-get', ['download', ...packages]);
    for (const name of await readdir(folder)) {
      if (name.endsWith('.deb')) await run('dpkg-deb', ['-x', join(folder, name), join(folder, 'system')]);
    }
    await rename(join(folder, 'system'), system);
  } catch (cause) {
    throw new Error(
      `Go and ${modulePackage} cannot be downloaded: this test needs Debian or Ubuntu, and their package servers.`,
      { cause },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return system;
}

/** Returns the commands of apt with lists of packages in a folder, because those of the system need root to update. */
async function aptWithoutRoot(folder: string) {
  const options = {
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
  };
  await mkdir(join(folder, 'lists/partial'), { recursive: true });
  await mkdir(join(folder, 'cache/archives/partial'), { recursive: true });
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const apt = (command: string, args: readonly string[]) =>
    run(command, [...settings, ...args], {
      cwd: folder,
      env: { ...process.env, PATH: [process.env.PATH, '/usr/bin'].join(delimiter) },
      maxBuffer: 64 * 1024 * 1024,
    });
  await apt('apt-get', ['update', '-qq']);
  return apt;
}
