import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fromSource } from '../measure/from-source.ts';
import { temporaryFolder } from '../recorder/temporary-folder.ts';
import type { End } from './agent-process.ts';

const program = join(import.meta.dirname, 'agent-process.ts');

/** Options of an agent process. */
export interface AgentOptions {
  /** `actlog`, or a peer's name. */
  readonly recorder: string;
  readonly url: string;
  readonly calls: number;
  readonly end: End;
  readonly spool: string;
  /** Maximum file size in KiB; larger writes fail as on a full disk. */
  readonly fileLimitKiB?: number;
}

/** An agent process that records at full speed and may be killed. */
export class Agent {
  readonly #child: ChildProcess;
  readonly #progress: string;
  readonly #exited: Promise<unknown>;

  constructor({ recorder, url, calls, end, spool, fileLimitKiB }: AgentOptions) {
    this.#progress = join(temporaryFolder(), 'progress');
    const args = [recorder, url, String(calls), end, this.#progress, spool];
    if (fileLimitKiB === undefined) {
      this.#child = fork(program, args, {
        execArgv: [...fromSource],
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
    } else {
      const limited = `trap '' XFSZ; ulimit -f ${fileLimitKiB}; exec "$0" "$@"`;
      this.#child = spawn('bash', ['-c', limited, process.execPath, ...fromSource, program, ...args], {
        stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      });
    }
    this.#exited = once(this.#child, 'exit');
  }

  /** Resolves when the agent sends this message. */
  async says(word: 'started' | 'made'): Promise<void> {
    for (;;) {
      const [message] = await Promise.race([once(this.#child, 'message'), this.#exited.then(() => [word])]);
      if (message === word) return;
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async end(): Promise<void> {
    await this.#exited;
  }

  /** Number of completed calls. */
  get made(): number {
    return this.#note[0] ?? 0;
  }

  /** Number of events reported to `onDrop`. */
  get dropped(): number {
    return this.#note[1] ?? 0;
  }

  get #note(): Uint32Array {
    const bytes = readFileSync(this.#progress);
    return new Uint32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + 8));
  }
}
