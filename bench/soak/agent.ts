import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fromSource } from '../measure/from-source.ts';
import type { AgentHealth } from './agent-process.ts';

/** Handle of the agent process. */
export class SoakingAgent {
  readonly #child: ChildProcess;
  readonly #exited: Promise<unknown>;

  constructor(url: string, spool: string) {
    this.#child = fork(join(import.meta.dirname, 'agent-process.ts'), [url, spool], {
      execArgv: [...fromSource, '--expose-gc'],
    });
    this.#exited = once(this.#child, 'exit');
  }

  /** Returns the health of the agent. */
  health(): Promise<AgentHealth> {
    return this.#ask('health');
  }

  /** Starts the work. */
  work(): Promise<AgentHealth> {
    return this.#ask('work');
  }

  /** Ends the work and waits until all is delivered. */
  rest(): Promise<AgentHealth> {
    return this.#ask('rest');
  }

  /** Closes the recorder and ends the process. */
  async end(): Promise<AgentHealth> {
    const health = await this.#ask('end');
    await this.#exited;
    return health;
  }

  /** Kills the process. */
  kill(): void {
    this.#child.kill('SIGKILL');
  }

  async #ask(word: 'health' | 'work' | 'rest' | 'end'): Promise<AgentHealth> {
    const answer = once(this.#child, 'message');
    this.#child.send(word);
    const exited = this.#exited.then(() => Promise.reject(new Error('The agent has ended.')));
    const [health] = (await Promise.race([answer, exited])) as [AgentHealth];
    return health;
  }
}
