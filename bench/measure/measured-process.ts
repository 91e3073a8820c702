import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fromSource } from './from-source.ts';

/** Something measured in a process of its own that works only while it is asked to, and tells what that cost. */
export class MeasuredProcess<Cost> {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /** @param file - the program: its first message says that it is ready, each other one answers one of ours */
  static async start<Cost>(file: string, ...args: readonly string[]): Promise<MeasuredProcess<Cost>> {
    const child = fork(file, args, {
      execArgv: [...fromSource],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const measured = new MeasuredProcess<Cost>(child);
    await measured.#answer();
    return measured;
  }

  /** @param amount - how much to do, in the program's own unit */
  async work(amount: number): Promise<Cost> {
    this.#child.send(amount);
    return (await this.#answer()) as Cost;
  }

  /** Ends the process. */
  stop(): void {
    if (this.#child.connected) this.#child.disconnect();
  }

  async #answer(): Promise<unknown> {
    const ended = new AbortController();
    const onExit = (code: number | null) =>
      ended.abort(new Error(`A measured process ended with ${code} and no result.`));
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
