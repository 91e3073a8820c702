import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Runs a command of apt with lists of packages in a folder, because those of the system need root to update. */
export type Apt = (command: string, args: readonly string[]) => Promise<{ readonly stdout: string }>;

/**
 * Returns a folder with unpacked packages of Debian or Ubuntu, as they would be installed below `/`. They are downloaded
 * with `apt-get`, without root, unless the cache has them.
 *
 * @param cache - folder for them alone
 * @param choose - returns the names of the packages
 * @throws Error when they cannot be downloaded
 */
export async function unpackedPackages(
  cache: string,
  choose: (apt: Apt) => Promise<readonly string[]>,
): Promise<string> {
  const system = join(cache, 'system');
  if (existsSync(system)) return system;
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'download-'));
  try {
    const apt = await aptWithoutRoot(folder);
    await apt('apt-get', ['download', ...(await choose(apt))]);
    for (const name of await readdir(folder)) {
      if (name.endsWith('.deb')) await run('dpkg-deb', ['-x', join(folder, name), join(folder, 'system')]);
    }
    await rename(join(folder, 'system'), system);
  } catch (cause) {
    throw new Error(
      `The packages for ${cache} cannot be downloaded: this test needs Debian or Ubuntu, and their package servers.`,
      { cause },
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return system;
}

/** Returns the folder with the shared libraries of unpacked packages, for `LD_LIBRARY_PATH`. */
export async function librariesIn(system: string): Promise<string> {
  const folder = join(system, 'usr/lib');
  return join(folder, (await readdir(folder)).find((name) => name.includes('-linux-gnu')) ?? '');
}

async function aptWithoutRoot(folder: string): Promise<Apt> {
  const options = {
    'Dir::State::lists': join(folder, 'lists'),
    'Dir::Cache': join(folder, 'cache'),
    'APT::Sandbox::User': '',
    'Acquire::Languages': 'none',
  };
  await mkdir(join(folder, 'lists/partial'), { recursive: true });
  await mkdir(join(folder, 'cache/archives/partial'), { recursive: true });
  const settings = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`]);
  const apt: Apt = (command, args) =>
    run(command, [...settings, ...args], {
      cwd: folder,
      env: { ...process.env, PATH: [process.env.PATH, '/usr/bin'].join(delimiter) },
      maxBuffer: 64 * 1024 * 1024,
    });
  await apt('apt-get', ['update', '-qq']);
  return apt;
}
