import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { hookFolder } from './hook-folder.ts';

/** Longest message that is shown, in characters. */
const maxLength = 1000;

/**
 * Last problem of the delivery, which runs in a process without a terminal: kept in a file, and shown to the user at the
 * start of the next session.
 */
export class DeliveryProblem {
  readonly #folder: string;
  readonly #path: string;

  constructor(spoolFolder: string) {
    this.#folder = hookFolder(spoolFolder);
    this.#path = join(this.#folder, 'delivery-problem.txt');
  }

  /** Returns the message; undefined if the last delivery had no problem. */
  read(): string | undefined {
    try {
      return readFileSync(this.#path, 'utf8').slice(0, maxLength) || undefined;
    } catch {
      return undefined;
    }
  }

  /** Keeps a message. */
  write(message: string): void {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const temporary = `${this.#path}.${process.pid}`;
    writeFileSync(temporary, message, { mode: 0o600 });
    renameSync(temporary, this.#path);
  }

  /** Forgets the message, after a delivery without a problem. */
  clear(): void {
    rmSync(this.#path, { force: true });
  }
}
