import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isAlive, ownIdentity, type ProcessIdentity } from '@actlog/recorder/short-lived';
import { hookFolder } from './hook-folder.ts';

/** Mark of the process that delivers, so that a burst of calls starts one. Two of them would do no harm. */
export class FlushLock {
  readonly #folder: string;
  readonly #path: string;

  constructor(spoolFolder: string) {
    this.#folder = hookFolder(spoolFolder);
    this.#path = join(this.#folder, 'flush.lock');
  }

  /** `true` while a living process holds it. */
  get isHeld(): boolean {
    try {
      const owner = JSON.parse(readFileSync(this.#path, 'utf8')) as ProcessIdentity;
      return isAlive(owner, Date.now() - statSync(this.#path).mtimeMs);
    } catch {
      return false; // There is none, or it is damaged.
    }
  }

  /** Takes it. Returns `false` if another living process holds it. */
  acquire(): boolean {
    if (this.isHeld) return false;
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    this.release();
    try {
      writeFileSync(this.#path, JSON.stringify(ownIdentity()), { flag: 'wx', mode: 0o600 });
      return true;
    } catch {
      return false; // Another process was faster.
    }
  }

  release(): void {
    rmSync(this.#path, { force: true });
  }
}
