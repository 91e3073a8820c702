import { type SpawnOptions, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type RunningServer, type ServerOptions, startServer } from '@actlog/server';
import { expect, onTestFinished } from 'vitest';
import type { Diagnosis } from '../../src/doctor/doctor-command.ts';
import { actlog, actlogProcess, commandEnvironment, commandLine, type Ended } from '../command-line.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const packages = resolve(import.meta.dirname, '..', '..', '..');

/** A project with an agent, and the environment that it runs in. Everything is in order until a test changes it. */
export class TestSetup {
  readonly server: RunningServer;
  /** Folder of the project. */
  readonly dir = temporaryFolder();
  /** Folder for spools; it does not exist yet. */
  readonly spoolDir = join(temporaryFolder(), 'spool');
  readonly env: Record<string, string>;

  private constructor(server: RunningServer) {
    this.server = server;
    this.env = {
      HOME: temporaryFolder(),
      ACTLOG_BASE_URL: server.url,
      ACTLOG_API_KEY: server.agentKey ?? '',
      ACTLOG_SPOOL_DIR: this.spoolDir,
    };
    this.write('package.json', { name: 'agent', dependencies: { ai: '*', '@actlog/ai-sdk': '*' } });
    this.install('@actlog/ai-sdk', 'adapters/ai-sdk');
    this.install('@actlog/recorder', 'recorder');
  }

  /** Starts a server, and creates a project that uses it. */
  static async create(options: ServerOptions = {}): Promise<TestSetup> {
    const server = await startServer(options);
    onTestFinished(() => server.close());
    return new TestSetup(server);
  }

  /** Writes a JSON file, or a text, in the project. */
  write(path: string, content: object | string): void {
    const file = join(this.dir, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  }

  /** Installs a package of this repository in the project. */
  install(name: string, folder: string): void {
    const path = join(this.dir, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(packages, folder), path);
  }

  /** Runs `actlog doctor` in the project. */
  run(args: readonly string[] = []): Promise<Ended> {
    return actlog(['doctor', ...args], { cwd: this.dir, env: this.env });
  }

  /** Runs `actlog doctor --json` in a process, which reads what Node reads when it starts, and returns its lines. */
  async diagnoseInProcess(): Promise<Diagnosis[]> {
    return this.linesOf(await actlogProcess(['doctor', '--json'], { cwd: this.dir, env: this.env }));
  }

  /** Runs `actlog doctor` as another user, which only root can. */
  runAs(uid: number, args: readonly string[]): Promise<Ended> {
    return this.#spawn(process.execPath, [...commandLine, 'doctor', ...args], { uid, gid: uid });
  }

  /** Runs `actlog doctor` with a disk of 1 MiB at a folder, which needs a kernel with user namespaces. */
  runOnSmallDisk(folder: string, args: readonly string[]): Promise<Ended> {
    const script = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"';
    const doctor = [process.execPath, ...commandLine, 'doctor', ...args];
    return this.#spawn('unshare', ['--map-root-user', '--mount', 'sh', '-c', script, folder, ...doctor]);
  }

  async #spawn(command: string, args: readonly string[], options: SpawnOptions = {}): Promise<Ended> {
    const child = spawn(command, args, { ...options, cwd: this.dir, env: commandEnvironment(this.env) });
    const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
    const [stdout, stderr, exitCode] = await Promise.all([
      text(child.stdout as Readable),
      text(child.stderr as Readable),
      ended,
    ]);
    return { stdout, stderr, exitCode };
  }

  /** Runs `actlog doctor --json`, and returns its lines. */
  async diagnose(args: readonly string[] = []): Promise<Diagnosis[]> {
    return this.linesOf(await this.run(['--json', ...args]));
  }

  /** Returns the lines that `--json` printed. Checks the exit code, and that no secret is printed. */
  linesOf({ stdout, stderr, exitCode }: Ended): Diagnosis[] {
    expect(stderr).toBe('');
    const result = JSON.parse(stdout) as { ok: boolean; checks: Diagnosis[] };
    expect({ ok: result.ok, exitCode }).toEqual({ ok: result.ok, exitCode: result.ok ? 0 : 1 });
    const { ACTLOG_API_KEY: key = '' } = this.env;
    if (key.length > 18) expect(stdout).not.toContain(key.slice(18));
    return result.checks;
  }
}

/** Returns the codes of the lines with a status. */
export function codesOf(diagnoses: readonly Diagnosis[], status: Diagnosis['status']): unknown[] {
  return diagnoses.filter((line) => line.status === status).map(({ code }) => code);
}
