import { processWide } from '../lib/process-wide.ts';
import type { AdapterCalls } from './adapter-calls.ts';

/** Coverage of everything of a framework in this process, usually by a recorder. All copies of an adapter share it. */
export class ProcessCoverage<Installed extends object = AdapterCalls> {
  /** All that are installed, oldest first. */
  readonly #installed: () => Set<Installed>;

  /** @param name - name for all copies of the adapter, such as `@actlog/langchain/installed` */
  constructor(name: string) {
    this.#installed = processWide(name, () => new Set());
  }

  /** The one that applies: the last that was installed; undefined if there is none. */
  get current(): Installed | undefined {
    return [...this.#installed()].at(-1);
  }

  /**
   * Covers the process.
   *
   * @returns function that ends the coverage. What was installed before applies again, if there is any
   */
  install(installed: Installed): () => void {
    this.#installed().add(installed);
    return () => {
      this.#installed().delete(installed);
    };
  }
}
