import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fromSource } from '../measure/from-source.ts';
import type { CallCost } from './agent-runs.ts';

const execArgv = [...fromSource, '--expose-gc'];

/** An agent with one recorder, in a process of its own that works only while it is asked to. */
export class PeerAgent {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param way - `bare`, `empty`, `actlog` or another recorder's name */
  static async start(adapter: string, way: string, url: string): Promise<PeerAgent> {
    const stdio = ['ignore', 'ignore', 'inherit', 'ipc'] as const;
    const file = join(import.meta.dirname, 'peer-process.ts');
    const agent = new PeerAgent(fork(file, [adapter, way, url], { execArgv, stdio: [...stdio] }));
    await agent.#answer();
    return agent;
  }

  /** Works for at least so long; what a call cost meanwhile. */
  async work(timeMs: number): Promise<CallCost> {
    this.#child.send(timeMs);
    return (await this.#answer()) as CallCost;
  }

  /** Ends the process. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  async #answer(): Promise<unknown> {
    const ended = new AbortController();
    const onExit = (code: number | null) =>
      ended.abort(new Error(`An agent ended with ${code} and no result.`));
    this.#child.once('exit', onExit);
    try {
      const [answer] = await once(this.#child, 'message', { signal: ended.signal });
      return answer;
    } catch (error) {
      throw ended.signal.reason ?? error;
    } finally {
      this.#child.off('exit', onExit);
    }
  }
}
