import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Options } from 'tsup';
import config from '../../../../tsup.config.ts';

const root = fileURLToPath(new URL('../../../../', import.meta.url));

/** A project with the client installed as by a user: built with the real configuration and manifest. */
export class PackedClient {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async install(): Promise<PackedClient> {
    const folder = await realpath(await mkdtemp(join(tmpdir(), 'actlog-packed-')));
    const client = new PackedClient(folder);
    await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}');
    await client.#build('protocol');
    await client.#build('client');
    await client.#copyDependency('undici');
    return client;
  }

  /** Adds the program that every runtime runs. */
  async addProgram(): Promise<string> {
    const path = join(this.folder, 'program.js');
    await cp(new URL('./program.js', import.meta.url), path);
    return path;
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Builds a package like `npm run build` and writes its published manifest. */
  async #build(name: string): Promise<void> {
    const options = (config as Options[]).find((candidate) => candidate.name === name);
    const entries = Array.isArray(options?.entry) ? options.entry : [];
    const target = join(this.folder, 'node_modules/@actlog', name);
    await build({
      ...options,
      entry: entries.map((entry) => join(root, entry)),
      tsconfig: join(root, 'packages', name, 'tsconfig.json'),
      outDir: join(target, 'dist'),
      config: false,
      silent: true,
    });
    const manifest = JSON.parse(await readFile(join(root, 'packages', name, 'package.json'), 'utf8'));
    const { publishConfig, ...rest } = manifest;
    if (name === 'client')
      await cp(join(root, 'packages/client/undici'), join(target, 'undici'), { recursive: true });
    await writeFile(
      join(target, 'package.json'),
      JSON.stringify({ ...rest, exports: publishConfig.exports }),
    );
  }

  async #copyDependency(name: string): Promise<void> {
    const entry = createRequire(join(root, 'packages/client/package.json')).resolve(name);
    let folder = dirname(entry);
    while (!folder.endsWith(`/${name}`)) folder = dirname(folder);
    const target = join(this.folder, 'node_modules', name);
    await mkdir(dirname(target), { recursive: true });
    await cp(folder, target, { recursive: true, dereference: true });
  }
}
