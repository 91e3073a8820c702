import * as fs from 'node:fs';
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { JournalPlace, QueuedEvent } from '../delivery/session-queues.ts';
import { LinkedList } from '../lib/linked-list.ts';
import { assertOwnFile, assertOwnFolder, openOwnFile, UntrustedFileError } from './own-file.ts';

/**
 * One file of the journal, and the state of its events. Events in memory are `loaded`; events after `cursor` are
 * `unread` and only on disk.
 */
export class Segment implements JournalPlace {
  readonly path: string;
  /** Total size of whole lines, in bytes. */
  bytes: number;
  /** Given up because it cannot be read; the file is left to a process that can. */
  isUnreadable = false;
  /** Number of consecutive failed reads, and the time of the next retry. */
  failedReads = 0;
  readAgainAtMs = 0;
  /** `true` if nothing more is appended. */
  isSealed: boolean;
  /** `true` if another process wrote it. */
  readonly isAdopted: boolean;
  /** Offset of the first event that is not in memory. */
  cursor = 0;
  /** Number of unsettled events after the cursor. */
  unread = 0;
  /** Events in memory that are not settled. */
  readonly loaded = new LinkedList<QueuedEvent>();
  /** Offsets after the cursor of events that are already in memory or settled. */
  readonly passed = new Set<number>();
  /** Offsets of settled events that the file does not record yet. */
  newlySettled: number[] = [];

  readonly #onSettled: (segment: Segment) => void;

  constructor(options: {
    path: string;
    bytes: number;
    isAdopted: boolean;
    onSettled: (segment: Segment) => void;
  }) {
    this.path = options.path;
    this.bytes = options.bytes;
    this.isSealed = options.isAdopted;
    this.isAdopted = options.isAdopted;
    this.#onSettled = options.onSettled;
  }

  /** `true` if every event in it is settled. */
  get isDone(): boolean {
    return this.loaded.length === 0 && this.unread === 0;
  }

  /** Returns `true` if a reader at the cursor still has to load the event at `offset`. */
  isUnread(offset: number): boolean {
    return !this.passed.has(offset);
  }

  /** Records that the event at `offset` is in memory. */
  load(event: QueuedEvent, offset: number): void {
    event.place = this;
    event.offset = offset;
    event.placeNode = this.loaded.push(event);
    // A later read must not load it again.
    if (offset >= this.cursor) this.passed.add(offset);
  }

  /** Forgets an event that is no longer here. */
  unload(event: QueuedEvent): void {
    if (event.place !== this || !event.placeNode) return;
    this.loaded.remove(event.placeNode);
    event.placeNode = undefined;
    event.place = undefined;
  }

  settle(event: QueuedEvent): void {
    this.unload(event);
    this.newlySettled.push(event.offset);
    this.#onSettled(this);
  }
}

/** One line of a segment. */
export type SegmentLine =
  | { readonly kind: 'event'; readonly originKey: string; readonly body: string }
  /** The events at these offsets of the same segment need no further handling. */
  | { readonly kind: 'settled'; readonly offsets: readonly number[] };

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}

/**
 * Encodes an event as a line: a CRC-32 in hex, a tab, and a record. JSON contains no raw line breaks or tabs, so a
 * damaged line does not affect the next one.
 */
export function encodeEvent(originKey: string, body: string): string {
  const record = `E\t${originKey}\t${body}`;
  return `${checksum(record)}\t${record}\n`;
}

/** Encodes settled events as a line. Starts with a line break, in case the line before is torn. */
export function encodeSettled(offsets: readonly number[]): string {
  const record = `S\t${offsets.join(',')}`;
  return `\n${checksum(record)}\t${record}\n`;
}

/** Decodes a line without its line break; undefined if it is empty, torn or damaged. */
export function decodeLine(line: string): SegmentLine | undefined {
  const record = line.slice(9);
  if (line[8] !== '\t' || line.slice(0, 8) !== checksum(record)) return undefined;
  if (record.startsWith('S\t')) return { kind: 'settled', offsets: record.slice(2).split(',').map(Number) };
  const bodyAt = record.indexOf('\t', 2) + 1;
  if (!record.startsWith('E\t') || bodyAt === 0) return undefined;
  return { kind: 'event', originKey: record.slice(2, bodyAt - 1), body: record.slice(bodyAt) };
}

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
  /** Returns a string that identifies a file or folder even after a move; undefined if it does not exist. */
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
