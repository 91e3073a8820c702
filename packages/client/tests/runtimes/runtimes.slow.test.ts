import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { launchBrowser } from '@actlog/test-browser';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ScriptedServer } from '../scripted-server.ts';
import { PackedClient } from './packed-client.ts';
import { expected, startService } from './service.ts';

const run = promisify(execFile);

/** Returns a file of an optional package, or undefined if it is not installed (another operating system or CPU). */
function installed(name: string, file: string): string | undefined {
  try {
    const manifest = createRequire(import.meta.url).resolve(`${name}/package.json`);
    const path = join(dirname(manifest), file);
    return existsSync(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

/** Finds a command in `PATH`. */
function onPath(...names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Skips a test with a warning, so that a missing runtime does not look like a passing one. */
function orSkip<Found>(found: Found | undefined, name: string, skip: (note?: string) => void): Found {
  if (found === undefined) {
    console.warn(`✗ NOT TESTED: ${name} is not installed on this machine`);
    skip(`${name} is not installed`);
  }
  return found as Found;
}

let packed: PackedClient;
let service: ScriptedServer;
let programPath: string;
let bundled: string;

beforeAll(async () => {
  packed = await PackedClient.install();
  programPath = await packed.addProgram();
  const main = join(packed.folder, 'main.js');
  await writeFile(
    main,
    `import { program, refusal } from './program.js';
const [origin, path, closed] = process.argv.slice(2);
console.log(JSON.stringify({ ...(await program(origin, {}, path)), refused: await refusal(closed) }));`,
  );
  // Bundles like tools for workers and pages: with the package's `browser` field, and without Node modules.
  const { outputFiles } = await build({
    entryPoints: [programPath],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions: ['workerd', 'worker', 'browser'],
    write: false,
    logLevel: 'error',
  });
  bundled = outputFiles[0]?.text ?? '';
  const page = `<script type="module">
    import { program } from '/program.js';
    const run = (options) => program(location.origin, options).catch((error) => ({ error: error.message }));
    window.outcome = { refused: await run(), allowed: await run({ dangerouslyExposeApiKeyInBrowser: true }) };
  </script>`;
  service = await startService({
    '/': ['text/html', page],
    '/program.js': ['text/javascript', bundled],
  });
}, 60_000);
afterAll(() => Promise.all([packed.remove(), service.stop()]));

/** Runs the program on a runtime with a file system. */
async function runProgram(command: string, args: string[] = []) {
  const path = join(packed.folder, 'session.json');
  const closed = await new ScriptedServer().start();
  const { origin } = closed;
  await closed.stop();
  const all = [...args, 'main.js', service.origin, path, origin];
  const { stdout } = await run(command, all, { cwd: packed.folder, timeout: 60_000 });
  const { file, refused, ...seen } = JSON.parse(stdout);
  expect(refused).toEqual({ name: 'APIConnectionError', maybeSent: false });
  expect(file).toMatchObject({ path, eventCount: 2, verified: true });
  expect(JSON.parse(await readFile(path, 'utf8')).events).toHaveLength(2);
  await rm(path);
  return seen;
}

describe('the packed client', () => {
  it.for(['node-22', 'node-24', 'node-26'])('runs on %s', async (name, { skip }) => {
    const isThis = name === `node-${process.versions.node.split('.')[0]}`;
    const command = orSkip(isThis ? process.execPath : installed(name, 'bin/node'), name, skip);
    expect(await runProgram(command)).toEqual({ ...expected, usesFetch: false });
  });

  it("runs under Node's permission model, which has no fsync", async ({ skip }) => {
    const command = orSkip(installed('node-26', 'bin/node'), 'node-26', skip);
    const { folder } = packed;
    const args = ['--permission', '--allow-net', `--allow-fs-read=${folder}`, `--allow-fs-write=${folder}`];
    expect(await runProgram(command, args)).toEqual({ ...expected, usesFetch: false });
  });

  it('runs on Bun', async ({ skip }) => {
    const command = orSkip(installed('@oven/bun-linux-x64', 'bin/bun') ?? onPath('bun'), 'Bun', skip);
    expect(await runProgram(command)).toEqual({ ...expected, usesFetch: true });
  });

  it('runs on Deno', async ({ skip }) => {
    const command = orSkip(installed('@deno/linux-x64-glibc', 'deno') ?? onPath('deno'), 'Deno', skip);
    const args = ['run', '--no-prompt', '--allow-net', '--allow-read', '--allow-write', '--cached-only'];
    expect(await runProgram(command, args)).toEqual({ ...expected, usesFetch: true });
  });

  it('runs on workerd', async ({ skip }) => {
    const module = await import('miniflare').catch(() => undefined);
    const { Miniflare } = orSkip(module, 'miniflare', skip);
    const script = `${bundled}
      export default { fetch: async (request) => {
        const origin = new URL(request.url).searchParams.get('origin');
        return Response.json(await program(origin).catch((error) => ({ error: error.stack })));
      } };`;
    const worker = new Miniflare({ modules: true, script, compatibilityDate: '2026-06-01' });
    try {
      const response = await worker.dispatchFetch(
        `http://worker/?origin=${encodeURIComponent(service.origin)}`,
      );
      expect(await response.json()).toEqual({ ...expected, usesFetch: true });
    } finally {
      await worker.dispose();
    }
  });

  it('runs in Chromium only with dangerouslyExposeApiKeyInBrowser', async () => {
    const browser = await launchBrowser();
    try {
      const page = await browser.newPage();
      await page.goto(service.origin);
      const outcome = await (await page.waitForFunction('window.outcome')).jsonValue();
      expect(outcome).toEqual({
        refused: { error: expect.stringContaining('everyone can read the API key') },
        allowed: { ...expected, usesFetch: true },
      });
    } finally {
      await browser.close();
    }
  });

  it('imports no Node modules, so that any bundler accepts it', async () => {
    expect(/(from|import\(|require\()\s*["'](node:|undici)/.exec(bundled)).toBeNull();
    const source = await readFile(join(packed.folder, 'node_modules/@actlog/client/dist/index.js'), 'utf8');
    expect(/from\s*["'](node:|undici|zod)/.exec(source)).toBeNull();
  });
});
