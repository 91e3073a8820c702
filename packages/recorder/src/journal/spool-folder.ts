import { join } from 'node:path';
import { processWide } from '../lib/process-wide.ts';
import { folderName, heartbeatMs, isAlive, ownIdentity, parseFolderName } from './own-file.ts';
import type { JournalFiles } from './segment.ts';
import type { JournalOptions } from './spool-location.ts';

/** Folders of this thread, which are alive without a mark. */
const ownFolders = processWide('@actlog/recorder/folders', () => new Set<string>());

/** Interval at which the place of the folder is checked, in milliseconds. */
const checkMs = 1000;

/** Returns `true` after a time, also if the clock was set back. */
function isOver(agoMs: number, intervalMs: number): boolean {
  return agoMs < 0 || agoMs >= intervalMs;
}

/** Suffix of a folder that its owner released. */
export const releasedSuffix = '.released';

/** Dependencies of a {@link SpoolFolder}. */
export type SpoolFolderOptions = Pick<JournalOptions, 'root' | 'files' | 'onFailure' | 'onNotTaken'>;

/**
 * Folder of one process in the spool. Its name identifies its owner, so it is owned from the moment it exists. An
 * abandoned folder is taken over by moving it into this process's folder, which succeeds for only one process.
 */
export class SpoolFolder {
  readonly root: string;
  readonly #files: JournalFiles;
  readonly #onFailure: (error: Error) => void;
  readonly #onNotTaken: (error: Error) => void;
  /** Paths that were reported as not taken over. */
  readonly #notTaken = new Set<string>();
  #path = '';
  #markedAtMs = 0;
  #checkedAtMs = 0;
  /** Identity of the spool folder. */
  #identity: string | undefined;
  #wasMoved = false;
  /** `true` if another process has or may have the folder, and there is no new one yet. */
  #isLost = false;

  /**
   * Creates the folder.
   *
   * @throws the system's error when the folder cannot be created
   * @throws UntrustedFileError when other users can change it
   */
  constructor({ root, files, onFailure, onNotTaken }: SpoolFolderOptions) {
    this.root = root;
    this.#files = files;
    this.#onFailure = onFailure;
    this.#onNotTaken = onNotTaken;
    this.#create();
  }

  /** Path of this process's folder. */
  get path(): string {
    return this.#path;
  }

  /** `true` if the folder that was lost was moved or removed with the spool folder, and not taken over by a process. */
  get wasMoved(): boolean {
    return this.#wasMoved;
  }

  /**
   * Marks the folder as alive if that is due. After a stall of a minute, another process may have taken it over; the
   * next call then creates a new one.
   *
   * @param isDue - `true` to check in any case
   * @returns `true` if the folder exists; `false` once when it was lost
   * @throws the system's error when a new one cannot be created; each further call retries
   */
  keep(nowMs: number, isDue = false): boolean {
    if (this.#isLost) this.#create();
    if (isDue || isOver(nowMs - this.#checkedAtMs, checkMs)) {
      this.#checkedAtMs = nowMs;
      if (this.#files.identity(this.#path) === undefined) {
        // A process that takes over this folder leaves the spool folder where it is.
        this.#wasMoved = this.#files.identity(this.root) !== this.#identity;
        this.#isLost = true;
        return false;
      }
    }
    const agoMs = nowMs - this.#markedAtMs;
    if (!isDue && !isOver(agoMs, heartbeatMs)) return true;
    this.#markedAtMs = nowMs;
    try {
      this.#files.touch(this.#path);
    } catch (error) {
      // Only a missing folder belongs to another process.
      this.#isLost = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!this.#isLost) this.#onFailure(error as Error);
    }
    return !this.#isLost;
  }

  /**
   * Takes over the folders of dead processes and returns the paths of their segments, oldest first.
   *
   * @throws UntrustedFileError when other users can change the folder
   */
  adopt(nowMs: number): string[] {
    this.#files.assertOwnFolder(this.root);
    const sharedNowMs = this.#sharedNowMs(nowMs);
    for (const name of this.#files.list(this.root)) {
      if (this.#isLeftBehind(name, sharedNowMs)) this.#take(join(this.root, name), name);
    }
    const folders = this.#files.list(this.#path).filter((name) => parseFolderName(name) !== undefined);
    return folders.flatMap((name) => {
      const segments = this.#segmentsIn(join(this.#path, name));
      if (segments.length === 0) this.tidy(join(this.#path, name));
      return segments;
    });
  }

  /**
   * Releases the folder: removes it if empty, otherwise leaves it to the next process at once. A later `keep` creates a
   * new one.
   */
  release(): void {
    this.#isLost = true;
    ownFolders().delete(this.#path);
    try {
      this.#files.rmdir(this.#path);
    } catch {
      try {
        this.#files.rename(this.#path, this.#path + releasedSuffix);
      } catch {
        // It was removed, so there is nothing to release.
      }
    }
  }

  /** Removes an adopted folder if it is empty. */
  tidy(folder: string): void {
    if (folder === this.#path) return;
    try {
      this.#files.rmdir(folder);
    } catch {
      // It still contains other segments.
    }
  }

  #create(): void {
    const nowMs = Date.now();
    const path = join(this.root, folderName(ownIdentity(), nowMs));
    this.#files.mkdir(this.root);
    this.#files.assertOwnFolder(this.root);
    this.#files.mkdir(path);
    ownFolders().delete(this.#path);
    ownFolders().add(path);
    this.#path = path;
    this.#markedAtMs = nowMs;
    this.#checkedAtMs = nowMs;
    this.#identity = this.#files.identity(this.root);
    this.#wasMoved = false;
    this.#isLost = false;
  }

  /** Returns the time by the clock of the file system, which also sets the marks of all folders. */
  #sharedNowMs(nowMs: number): number {
    try {
      this.#files.touch(this.#path);
      return this.#files.modifiedAtMs(this.#path);
    } catch {
      return nowMs; // the folder was taken over, which `keep` will find
    }
  }

  #isLeftBehind(name: string, nowMs: number): boolean {
    if (name.endsWith(releasedSuffix))
      return parseFolderName(name.slice(0, -releasedSuffix.length)) !== undefined;
    const owner = parseFolderName(name);
    const path = join(this.root, name);
    if (!owner || ownFolders().has(path)) return false;
    try {
      return !isAlive(owner, nowMs - this.#files.modifiedAtMs(path));
    } catch {
      return false; // gone meanwhile
    }
  }

  #take(from: string, name: string): void {
    const to = join(this.#path, name.replace(releasedSuffix, ''));
    if (!this.#isTrusted(from, () => this.#files.assertOwnFolder(from))) return;
    try {
      this.#files.rename(from, to);
      // Move folders that the dead process had taken over next to its folder, so that the nesting does not grow with
      // every crash.
      for (const inner of this.#files.list(to)) {
        if (parseFolderName(inner)) this.#files.rename(join(to, inner), join(this.#path, inner));
      }
    } catch (error) {
      // If it is gone, another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#reportNotTaken(from, error as Error);
    }
  }

  #reportNotTaken(path: string, cause: NodeJS.ErrnoException): void {
    if (this.#notTaken.has(path)) return;
    this.#notTaken.add(path);
    const message = `Events in ${path} are not delivered by this process: ${cause.message}`;
    this.#onNotTaken(new Error(message, { cause }));
  }

  /** Returns `true` if a check passes. Otherwise the path is left in place and reported once. */
  #isTrusted(path: string, check: () => void): boolean {
    try {
      check();
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#reportNotTaken(path, error as Error);
      return false;
    }
  }

  #segmentsIn(folder: string): string[] {
    if (!this.#isTrusted(folder, () => this.#files.assertOwnFolder(folder))) return [];
    return this.#files.list(folder).flatMap((name) => {
      const path = join(folder, name);
      if (name.endsWith('.seg')) {
        return this.#isTrusted(path, () => this.#files.assertOwnSegment(path)) ? [path] : [];
      }
      return parseFolderName(name) ? this.#segmentsIn(path) : [];
    });
  }
}
