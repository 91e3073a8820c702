import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fromSource } from './from-source.ts';

/** A measured process that only works on request and reports the cost. */
export class MeasuredProcess<Cost> {
  readonly #child: ChildProcess;

  private constructor(child: ChildProcess) {
    this.#child = child;
  }

  /**
   * @param file - the program: its first message signals readiness, each later one responds to one of ours
   */
  static async start<Cost>(file: string, ...args: readonly string[]): Promise<MeasuredProcess<Cost>> {
    const child = fork(file, args, {
      execArgv: [...fromSource],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const measured = new MeasuredProcess<Cost>(child);
    await measured.#answer();
    return measured;
  }

  /** @param amount - amount of work in the program's own unit */
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
