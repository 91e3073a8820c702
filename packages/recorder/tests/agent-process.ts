import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, onTestFinished } from 'vitest';
import type { Sink } from './sink.ts';

const program = join(import.meta.dirname, 'programs', 'agent.ts');

/** An agent in a separate process. */
export class AgentProcess {
  readonly child: ChildProcess;
  /** Ids of events for which `record` has returned. */
  readonly recorded: string[] = [];
  /** Ids passed to `onDrop`. */
  readonly dropped: string[] = [];
  /** All other output lines. */
  readonly lines: string[] = [];
  stderr = '';
  readonly #ended: Promise<unknown>;
  readonly #printed: Promise<unknown>;

  constructor(env: Record<string, string>) {
    this.child = spawn(
      process.execPath,
      ['--conditions=@actlog/source', '--disable-warning=ExperimentalWarning', program],
      {
        env: { PATH: process.env.PATH, NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE, ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.#ended = once(this.child, 'close');
    const lines = createInterface({ input: this.child.stdout as NodeJS.ReadableStream });
    this.#printed = once(lines, 'close');
    lines.on('line', (line) => {
      const [kind, id = ''] = line.split(' ');
      if (kind === 'recorded') this.recorded.push(id);
      else if (kind === 'dropped') this.dropped.push(id);
      else this.lines.push(line);
      this.child.emit('printed');
    });
    this.child.stderr?.on('data', (chunk) => {
      this.stderr += chunk;
    });
    onTestFinished(async () => {
      if (this.child.exitCode === null && this.child.signalCode === null) this.child.kill('SIGKILL');
      await this.#ended;
    });
  }

  /** Resolves when a condition holds; checked after every output line. */
  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await once(this.child, 'printed');
  }

  /** Waits for the end of the process and returns its exit code, or the signal that killed it. */
  async end(): Promise<number | NodeJS.Signals | null> {
    await Promise.all([this.#ended, this.#printed]);
    return this.child.signalCode ?? this.child.exitCode;
  }
}

/** Delivers the events left by others in a process, and returns its output. */
export async function drain(sink: Sink, spool: string): Promise<Record<string, number>> {
  const agent = new AgentProcess({ MODE: 'drain', COUNT: '0', SINK_URL: sink.url, SPOOL: spool });
  expect(await agent.end()).toBe(0);
  return JSON.parse(agent.lines[0] as string);
}
