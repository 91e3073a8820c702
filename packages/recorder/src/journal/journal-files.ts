import * as fs from 'node:fs';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { assertOwnFile, assertOwnFolder, openOwnFile, UntrustedFileError } from './own-file.ts';

const { O_APPEND, O_CREAT, O_RDONLY, O_WRONLY } = fs.constants;

/** Maximum size of a file that is read: sixteen times the size of a segment. */
export const maxSegmentBytes = 16 * 1024 * 1024;

/** All file operations of the journal, so that a test can stop it between any two. */
export interface JournalFiles {
  mkdir(path: string): void;
  /** Opens a file of this user for appending, readable by no other user. */
  openForAppend(path: string): number;
  /** Opens a file of this user for reading. */
  openForRead(path: string): number;
  /** Opens a folder, for `sync`. */
  openFolder(path: string): number;
  close(fd: number): void;
  /** Appends text and returns the number of bytes written, which may be smaller. */
  append(fd: number, text: string): number;
  /** Fills the buffer from a position in the file and returns the number of bytes read. */
  read(fd: number, buffer: Uint8Array, position: number): number;
  truncate(fd: number, size: number): void;
  /** Flushes written data to disk. */
  sync(fd: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Returns the names in a folder, sorted. */
  list(path: string): string[];
  /** Throws unless only this user can change the folder. */
  assertOwnFolder(path: string): void;
  /** Throws unless the file is a segment that this user may have written. */
  assertOwnSegment(path: string): void;
  /** Returns the time of the last change, in Unix milliseconds. */
  modifiedAtMs(path: string): number;
  size(path: string): number;
  /** Returns a text that identifies a file or folder wherever it is moved; undefined if it does not exist. */
  identity(path: string): string | undefined;
  /**
   * Sets the modification time of a folder to now, by the clock of its file system: the clocks of machines that share a
   * folder may differ.
   */
  touch(path: string): void;
}

/** The real file system. Every operation is synchronous, and complete when it returns. */
export const realFiles: JournalFiles = {
  mkdir: makeFolder,
  openForAppend: (path) => openOwnFile(path, O_WRONLY | O_CREAT | O_APPEND),
  openForRead: (path) => openOwnFile(path, O_RDONLY),
  openFolder: (path) => fs.openSync(path, 'r'),
  close: (fd) => fs.closeSync(fd),
  append: (fd, text) => fs.writeSync(fd, text),
  read: (fd, buffer, position) => fs.readSync(fd, buffer, 0, buffer.length, position),
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  sync: (fd) => fs.fdatasyncSync(fd),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  rmdir: (path) => {
    removeMark(path); // of a process that ended while it marked the folder
    fs.rmdirSync(path);
  },
  list: (path) => fs.readdirSync(path).sort(),
  assertOwnFolder,
  assertOwnSegment,
  modifiedAtMs: (path) => fs.lstatSync(path).mtimeMs,
  size: (path) => fs.lstatSync(path).size,
  identity: (path) => {
    const stats = fs.lstatSync(path, { throwIfNoEntry: false });
    return stats && `${stats.dev} ${stats.ino}`;
  },
  touch: (path) => {
    try {
      fs.closeSync(fs.openSync(join(path, markName), O_WRONLY | O_CREAT | fs.constants.O_EXCL, 0o600));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // A disk without room for a file still takes a time.
      if (code !== 'EEXIST') fs.utimesSync(path, new Date(), new Date());
    }
    removeMark(path);
  },
};

/** File that is created and removed to change a folder's modification time. */
const markName = 'mark';

function removeMark(path: string): void {
  try {
    fs.unlinkSync(join(path, markName));
  } catch {
    // There is none.
  }
}

function assertOwnSegment(path: string): void {
  const stats = fs.lstatSync(path);
  assertOwnFile(path, stats);
  if (stats.size > maxSegmentBytes) {
    throw new UntrustedFileError(
      'size',
      `${path} has ${stats.size} bytes, more than any segment. Remove it.`,
    );
  }
}

/** Flushes the folder itself, so that its entries survive a power failure. Not available on Windows. */
export function syncFolder(files: JournalFiles, path: string): void {
  if (process.platform === 'win32') return;
  const fd = files.openFolder(path);
  try {
    files.sync(fd);
  } finally {
    files.close(fd);
  }
}

/**
 * Creates a folder that only its owner can use, and its missing parents. Step by step, because `mkdirSync` with
 * `recursive` never returns if the system creates no folder but reports the parent as missing, as autofs does for
 * unknown homes, and `/proc`.
 *
 * @throws the system's error
 */
export function makeFolder(path: string): void {
  try {
    makeOne(path);
  } catch (error) {
    const above = dirname(path);
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || above === path) throw error;
    makeFolder(above);
    makeOne(path);
  }
}

function makeOne(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const isThere = (error as NodeJS.ErrnoException).code === 'EEXIST' && statSync(path).isDirectory();
    if (!isThere) throw error;
  }
}
