import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Tarball } from './tarballs.ts';

const installCommands = {
  npm: ['install', '--no-audit', '--no-fund', '--prefer-offline'],
  pnpm: ['install', '--ignore-scripts', '--prefer-offline', '--no-frozen-lockfile'],
};

/** A user's project with the packed packages installed. */
export class Consumer {
  /** Absolute path of the project. */
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  /**
   * Installs tarballs and packages of the registry into a new project.
   *
   * @param manager - npm rejects conflicting peer dependencies, like in a user's project; pnpm accepts them, so that all
   * frameworks fit into one project
   */
  static install(
    tarballs: readonly Tarball[],
    packages: Readonly<Record<string, string>>,
    manager: keyof typeof installCommands,
  ): Consumer {
    const folder = mkdtempSync(join(tmpdir(), 'actlog-consumer-'));
    const consumer = new Consumer(folder);
    const local = Object.fromEntries(tarballs.map(({ manifest, file }) => [manifest.name, `file:${file}`]));
    const overrides = { '@langchain/langgraph-sdk': '1.12.1' };
    const manifest = {
      name: 'consumer',
      private: true,
      type: 'module',
      dependencies: { ...local, ...packages },
      overrides,
    };
    consumer.write('package.json', JSON.stringify(manifest, null, 2));
    // JSON is YAML. Without overrides, pnpm would look for the tarballs' dependencies on each other in the registry.
    consumer.write('pnpm-workspace.yaml', JSON.stringify({ overrides: { ...overrides, ...local } }));
    consumer.run(manager, installCommands[manager]);
    return consumer;
  }

  write(name: string, content: string): void {
    const path = join(this.folder, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
  }

  /** Runs a command in the project and returns its output. @throws Error with the output when the command fails. */
  run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string {
    try {
      return execFileSync(command, args, {
        cwd: this.folder,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 300_000,
        env: { ...process.env, NODE_OPTIONS: '', ...env },
      });
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(
        `${command} ${args.join(' ')} failed in a new project:\n${stdout ?? ''}${stderr ?? ''}`,
      );
    }
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
