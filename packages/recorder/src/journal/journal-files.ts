import * as fs from 'node:fs';
import { makeFolder } from './make-folder.ts';

/** The file operations of the journal: all there are, so that a test can stop the journal between any two. */
export interface JournalFiles {
  mkdir(path: string): void;
  /** Opens a file of our own for appending, readable by nobody else. */
  openForAppend(path: string): number;
  openForRead(path: string): number;
  close(fd: number): void;
  /** Appends text; returns the bytes that were written, which may be fewer than asked. */
  append(fd: number, text: string): number;
  /** Fills the buffer from a place in the file; returns the bytes that were read. */
  read(fd: number, buffer: Uint8Array, position: number): number;
  truncate(fd: number, size: number): void;
  /** Hands written data over to the disk itself. */
  sync(fd: number): void;
  rename(from: string, to: string): void;
  unlink(path: string): void;
  rmdir(path: string): void;
  /** Names in a folder, sorted. */
  list(path: string): string[];
  isFolder(path: string): boolean;
  /** Milliseconds since the epoch of the last change. */
  modifiedAtMs(path: string): number;
  size(path: string): number;
  /** Marks a folder as changed now. */
  touch(path: string): void;
}

/** The real files. Every operation is synchronous: what has returned has happened. */
export const realFiles: JournalFiles = {
  mkdir: makeFolder,
  openForAppend: (path) => fs.openSync(path, 'a', 0o600),
  openForRead: (path) => fs.openSync(path, 'r'),
  close: (fd) => fs.closeSync(fd),
  append: (fd, text) => fs.writeSync(fd, text),
  read: (fd, buffer, position) => fs.readSync(fd, buffer, 0, buffer.length, position),
  truncate: (fd, size) => fs.ftruncateSync(fd, size),
  sync: (fd) => fs.fdatasyncSync(fd),
  rename: (from, to) => fs.renameSync(from, to),
  unlink: (path) => fs.unlinkSync(path),
  rmdir: (path) => fs.rmdirSync(path),
  list: (path) => fs.readdirSync(path).sort(),
  isFolder: (path) => fs.lstatSync(path).isDirectory(),
  modifiedAtMs: (path) => fs.statSync(path).mtimeMs,
  size: (path) => fs.statSync(path).size,
  touch: (path) => {
    const now = new Date();
    fs.utimesSync(path, now, now);
  },
};

/** The folder itself, on disk: what stands in it after a power cut. Windows has no such operation. */
export function syncFolder(files: JournalFiles, path: string): void {
  if (process.platform === 'win32') return;
  const fd = files.openForRead(path);
  try {
    files.sync(fd);
  } finally {
    files.close(fd);
  }
}
