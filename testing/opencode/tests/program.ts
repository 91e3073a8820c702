import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Service } from '@actlog/adapter-suite';
import { build } from 'esbuild';
import type { Model } from './model.ts';

/** Path of the program; undefined where it is not installed. */
export function opencodePath(): string | undefined {
  try {
    return createRequire(import.meta.url).resolve('opencode-linux-x64/bin/opencode');
  } catch {
    return undefined;
  }
}

/** Options of the project in which opencode runs. */
export interface ProjectOptions {
  readonly model: Model;
  readonly service: Service;
  /** Options of the plugin in `opencode.json`. */
  readonly options: Record<string, unknown>;
}

/** A project whose `opencode.json` names the plugin, which is bundled from its sources. */
export class Project {
  readonly folder: string = mkdtempSync(join(tmpdir(), 'actlog-opencode-'));
  readonly #program: string;
  readonly #env: NodeJS.ProcessEnv;
  #server: ChildProcess | undefined;

  private constructor(program: string, { service }: ProjectOptions) {
    this.#program = program;
    const home = join(this.folder, 'home');
    mkdirSync(home);
    this.#env = {
      PATH: process.env.PATH,
      HOME: home,
      ACTLOG_BASE_URL: service.url,
      ACTLOG_API_KEY: service.apiKey,
      ACTLOG_SPOOL_DIR: service.newFolder(),
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      // It installs a package for plugins that are written in the project, which this one needs as little as a network.
      npm_config_registry: 'http://127.0.0.1:9',
      npm_config_fetch_retries: '0',
    };
  }

  /** Creates a project with the plugin as opencode installs it: a folder with a manifest. */
  static async create(program: string, given: ProjectOptions): Promise<Project> {
    const project = new Project(program, given);
    const plugin = join(project.folder, 'home', 'plugin');
    await build({
      entryPoints: [join(import.meta.dirname, 'plugin.ts')],
      outfile: join(plugin, 'index.js'),
      bundle: true,
      platform: 'node',
      format: 'esm',
      conditions: ['@actlog/source'],
      banner: {
        js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`,
      },
      logLevel: 'error',
    });
    const manifest = { name: '@actlog/opencode', version: '0.0.0', type: 'module', main: './index.js' };
    writeFileSync(join(plugin, 'package.json'), JSON.stringify(manifest));
    const provider = {
      npm: '@ai-sdk/openai-compatible',
      options: { baseURL: given.model.url, apiKey: 'none' },
      models: { m: { name: 'm', tool_call: true, limit: { context: 100_000, output: 4_000 } } },
    };
    const settings = {
      plugin: [[plugin, given.options]],
      provider: { scripted: provider },
      model: 'scripted/m',
      small_model: 'scripted/m',
      share: 'disabled',
      permission: { webfetch: 'deny' },
    };
    writeFileSync(join(project.folder, 'opencode.json'), JSON.stringify(settings));
    return project;
  }

  /** Gives opencode a prompt, and returns what it printed until it ended. */
  async run(prompt: string): Promise<string> {
    const child = this.#spawn(['run', prompt]);
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += chunk));
    await new Promise((resolve) => child.once('close', resolve));
    return printed;
  }

  /** Starts opencode as a server, and returns a function that sends it a request. */
  async serve(): Promise<(path: string, body?: object) => Promise<unknown>> {
    const child = this.#spawn(['serve', '--port', '0', '--hostname', '127.0.0.1']);
    this.#server = child;
    const url = await new Promise<string>((resolve) => {
      createInterface({ input: child.stdout as NonNullable<typeof child.stdout> }).on('line', (line) => {
        const [found] = /http:\S+/.exec(line) ?? [];
        if (found) resolve(found);
      });
    });
    return async (path, body = {}) => {
      const headers = { 'content-type': 'application/json' };
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
      return text === '' ? undefined : JSON.parse(text);
    };
  }

  /** Ends the server. */
  async stop(): Promise<void> {
    const server = this.#server;
    if (!server) return;
    this.#server = undefined;
    const ended = new Promise((resolve) => server.once('close', resolve));
    server.kill('SIGTERM');
    await ended;
  }

  /** Ends opencode, and removes the project. */
  async remove(): Promise<void> {
    await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #spawn(args: readonly string[]): ChildProcess {
    return spawn(this.#program, args, {
      cwd: this.folder,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }
}
