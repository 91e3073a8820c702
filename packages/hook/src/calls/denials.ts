import { appendFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { maxDenialsInARow, maxSameDenials } from '@actlog/recorder/short-lived';
import { digest } from './digest.ts';
import { namesIn } from './open-calls.ts';

/** Suffix of the files that count the denials of a call, and of a tool since a call of it was let through. */
const sameSuffix = '.same';
const inARowSuffix = '.row';

/**
 * Denials of one thread, counted in the sizes of files, to which processes append at the same time. A model that repeats
 * a denied call would otherwise never stop.
 */
export class Denials {
  readonly #folder: string;
  readonly #thread: string;

  /** @param folder - folder of the session, which exists */
  constructor(folder: string, thread: string) {
    this.#folder = folder;
    this.#thread = thread;
  }

  /**
   * Counts a denial.
   *
   * @returns `true` if the model has repeated itself so often that the run should end
   */
  count(toolName: string, argumentsHash: string): boolean {
    const same = this.#increment(this.#path(sameSuffix, toolName, argumentsHash));
    const inARow = this.#increment(this.#path(inARowSuffix, toolName));
    return same >= maxSameDenials || inARow >= maxDenialsInARow;
  }

  /** Notes that a call of a tool was allowed. */
  letThrough(toolName: string): void {
    rmSync(this.#path(inARowSuffix, toolName), { force: true });
  }

  /** Forgets all denials, after a new prompt. */
  clear(): void {
    for (const name of namesIn(this.#folder)) {
      const isCount = name.endsWith(sameSuffix) || name.endsWith(inARowSuffix);
      if (isCount && name.startsWith(`${this.#thread}.`)) rmSync(join(this.#folder, name), { force: true });
    }
  }

  #path(suffix: string, ...parts: readonly string[]): string {
    return join(this.#folder, `${this.#thread}.${digest(...parts)}${suffix}`);
  }

  #increment(path: string): number {
    try {
      appendFileSync(path, '.', { mode: 0o600 });
      return statSync(path).size;
    } catch {
      return 1; // The disk is full: the call is denied all the same.
    }
  }
}
