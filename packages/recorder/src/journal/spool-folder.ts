import { join } from 'node:path';
import { processWide } from '../process-wide.ts';
import type { JournalFiles } from './journal-files.ts';
import type { JournalOptions } from './journal-options.ts';
import { folderName, heartbeatMs, isAlive, ownIdentity, parseFolderName } from './process-identity.ts';

/** The folders of this thread: to know that they are alive, nobody needs to have marked them. */
const ownFolders = processWide('@actlog/recorder/folders', () => new Set<string>());

/** Ends the name of a folder that its owner gave up while it lived. */
const releasedSuffix = '.released';

/** What a {@link SpoolFolder} works with. */
export type SpoolFolderOptions = Pick<JournalOptions, 'root' | 'files' | 'onFailure' | 'onNotTaken'>;

/**
 * The folder of one process within the spool. Its name tells its owner, so it belongs to somebody from the moment it
 * exists; a folder left behind is taken over by moving it into one's own, which succeeds for one process only.
 */
export class SpoolFolder {
  readonly root: string;
  readonly #files: JournalFiles;
  readonly #onFailure: (error: Error) => void;
  readonly #onNotTaken: (error: Error) => void;
  /** Names of folders that were told of, since they cannot be taken over. */
  readonly #notTaken = new Set<string>();
  #path = '';
  #markedAtMs = 0;
  /** Another process has the folder, or may have it, and there is no new one yet. */
  #isLost = false;

  /**
   * @throws the system's error when the folder cannot be made
   */
  constructor({ root, files, onFailure, onNotTaken }: SpoolFolderOptions) {
    this.root = root;
    this.#files = files;
    this.#onFailure = onFailure;
    this.#onNotTaken = onNotTaken;
    files.mkdir(root);
    this.#create();
  }

  /** The folder of this process. */
  get path(): string {
    return this.#path;
  }

  /**
   * Marks the folder as alive, when that is due. A process that stood still for a minute may find that another took
   * its folder over; the next call then makes a new one.
   *
   * @param isDue - whether to look in any case
   * @returns whether the folder is there; false once when it was lost
   * @throws the system's error when a new one cannot be made; each further call tries again
   */
  keep(nowMs: number, isDue = false): boolean {
    if (this.#isLost) this.#create();
    const agoMs = nowMs - this.#markedAtMs;
    // Below 0 when the clock was set back.
    if (!isDue && agoMs >= 0 && agoMs < heartbeatMs) return true;
    this.#markedAtMs = nowMs;
    try {
      this.#files.touch(this.#path);
    } catch (error) {
      // Only a folder that is gone belongs to somebody else.
      this.#isLost = (error as NodeJS.ErrnoException).code === 'ENOENT';
      if (!this.#isLost) this.#onFailure(error as Error);
    }
    return !this.#isLost;
  }

  /** Takes over what dead processes left behind; returns paths of segments, oldest first. */
  adopt(nowMs: number): string[] {
    for (const name of this.#files.list(this.root)) {
      if (this.#isLeftBehind(name, nowMs)) this.#take(join(this.root, name), name);
    }
    const folders = this.#files.list(this.#path).filter((name) => parseFolderName(name) !== undefined);
    return folders.flatMap((name) => {
      const segments = this.#segmentsIn(join(this.#path, name));
      if (segments.length === 0) this.tidy(join(this.#path, name));
      return segments;
    });
  }

  /**
   * Gives the folder up: removes it when it is empty, else leaves it for the next process at once. Whoever keeps it
   * all the same gets a new one.
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
        // Somebody removed it: there is nothing to leave behind.
      }
    }
  }

  /** Removes an adopted folder that has become empty. */
  tidy(folder: string): void {
    if (folder === this.#path) return;
    try {
      this.#files.rmdir(folder);
    } catch {
      // Other segments are still in it.
    }
  }

  #create(): void {
    const nowMs = Date.now();
    const path = join(this.root, folderName(ownIdentity(), nowMs));
    this.#files.mkdir(path);
    ownFolders().delete(this.#path);
    ownFolders().add(path);
    this.#path = path;
    this.#markedAtMs = nowMs;
    this.#isLost = false;
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
    try {
      this.#files.rename(from, to);
      // What the dead process had itself taken over comes to stand beside it, so that folders do not nest deeper
      // with every crash.
      for (const inner of this.#files.list(to)) {
        if (parseFolderName(inner)) this.#files.rename(join(to, inner), join(this.#path, inner));
      }
    } catch (error) {
      // Where it is gone, another process was faster.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') this.#tellNotTaken(from, name, error as Error);
    }
  }

  #tellNotTaken(path: string, name: string, cause: NodeJS.ErrnoException): void {
    if (this.#notTaken.has(name)) return;
    this.#notTaken.add(name);
    const message = `What a process left in ${path} cannot be taken over (${cause.code}), so this process does not deliver it. What is another user's, only a process of that user delivers: give each user a spoolDir of its own.`;
    this.#onNotTaken(new Error(message, { cause }));
  }

  #segmentsIn(folder: string): string[] {
    return this.#files.list(folder).flatMap((name) => {
      const path = join(folder, name);
      if (name.endsWith('.seg')) return [path];
      return parseFolderName(name) ? this.#segmentsIn(path) : [];
    });
  }
}
