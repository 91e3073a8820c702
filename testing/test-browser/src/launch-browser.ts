import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { type Browser, chromium, type LaunchOptions } from 'playwright-core';

/** Environment variable with the path of a Chromium to run pages in, instead of the one from npm. */
const pathVariable = 'ACTLOG_TEST_BROWSER';

/** `true` where the Chromium from npm runs: it is built for one platform. */
const hasPackagedBrowser = process.platform === 'linux' && process.arch === 'x64';

/** Folder for browsers that are unpacked once for all tests of the repository. */
const cache = join(import.meta.dirname, '..', '..', '..', 'node_modules', '.cache', 'test-browser');

/**
 * Launches a Chromium without a window: the program that `ACTLOG_TEST_BROWSER` names, or the one from npm, which needs
 * nothing of the operating system but its C library. Where that does not run, which is anywhere but on Linux on x64, it
 * launches the installed Chrome.
 *
 * @throws Error if there is no browser, or if it does not start.
 */
export async function launchBrowser({ args = [], ...options }: LaunchOptions = {}): Promise<Browser> {
  const program = await browserProgram();
  try {
    return await chromium.launch({ ...program, args: ['--no-sandbox', ...args], ...options });
  } catch (cause) {
    const remedy = hasPackagedBrowser
      ? `run \`npm run setup\`, delete ${cache}, or set ${pathVariable} to the path of a Chromium`
      : `install Chrome, or set ${pathVariable} to the path of a Chromium`;
    throw new Error(`The browser for tests does not start: ${remedy}.`, { cause });
  }
}

async function browserProgram(): Promise<LaunchOptions> {
  const executablePath = process.env[pathVariable]?.trim();
  if (executablePath) {
    if (existsSync(executablePath)) return { executablePath };
    throw new Error(
      `${pathVariable} must be the path of a Chromium, got ${executablePath}, which does not exist.`,
    );
  }
  if (!hasPackagedBrowser) return { channel: 'chrome' };
  const folder = await unpackedBrowser();
  return {
    executablePath: join(folder, 'chromium'),
    env: {
      ...process.env,
      // The libraries and fonts that come with it, so that pages look the same on each machine.
      LD_LIBRARY_PATH: join(folder, 'al2023', 'lib'),
      FONTCONFIG_FILE: join(folder, 'fonts.conf'),
    },
  };
}

let unpacking: Promise<string> | undefined;

/** Returns the folder of the Chromium from npm, which the first call on a machine unpacks there. */
function unpackedBrowser(): Promise<string> {
  unpacking ??= unpack();
  return unpacking;
}

async function unpack(): Promise<string> {
  const { resolve } = createRequire(import.meta.url);
  const manifest = join(dirname(resolve('@sparticuz/chromium')), '..', 'package.json');
  const { version } = JSON.parse(await readFile(manifest, 'utf8'));
  const folder = join(cache, version);
  if (existsSync(folder)) return folder;
  // Several processes may unpack at once: each into its own folder, and the first one to finish provides the result.
  const own = `${folder}-${randomUUID()}`;
  await mkdir(own, { recursive: true });
  try {
    // The package unpacks into the folder for temporary files, and its libraries only on AWS.
    const program = `import('@sparticuz/chromium').then(({ default: chromium }) => chromium.executablePath())`;
    const env = { ...process.env, TMPDIR: own, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs24.x' };
    await promisify(execFile)(process.execPath, ['-e', program], { cwd: import.meta.dirname, env });
    await writeFile(join(own, 'fonts.conf'), fontConfiguration(folder));
    await rename(own, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(own, { recursive: true, force: true });
  }
  return folder;
}

/** Returns the configuration that has the browser use only the fonts that come with it. */
function fontConfiguration(folder: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
  <dir>${join(folder, 'fonts')}</dir>
  <cachedir>${join(folder, 'font-cache')}</cachedir>
</fontconfig>
`;
}
