import { appendFileSync, closeSync, constants, lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { openOwnFile } from '../journal/own-file.ts';

const { O_APPEND, O_CREAT, O_WRONLY } = constants;

/** Size above which a dead-letter file is rotated, replacing the previous rotation. */
const maxBytes = 16 * 1024 * 1024;

/** Name of the file, and of the one that it is rotated to. */
const fileName = 'dead-letters.jsonl';
const rotatedName = 'dead-letters.1.jsonl';

/** Returns the paths of the dead-letter files in the folder of a tenant, the older first. They may not exist. */
export function deadLetterFiles(folder: string): string[] {
  return [join(folder, rotatedName), join(folder, fileName)];
}

/**
 * Stores events that the service rejected permanently, with the reason: one JSON object per line, `{deadLetteredAt,
 * reason, event}`, in `dead-letters.jsonl` of the spool folder, readable only by its owner and shared by all processes.
 */
export class DeadLetters {
  /** Path of the file. */
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, fileName);
  }

  /** Stores an event; returns `true` on success. */
  add(body: string, reason: string): boolean {
    const head = JSON.stringify({ deadLetteredAt: new Date().toISOString(), reason });
    try {
      this.#rotate();
      this.#append(`${head.slice(0, -1)},"event":${body}}\n`);
      return true;
    } catch {
      return false;
    }
  }

  /** Writes a line with a single write, so that lines of several processes do not mix. */
  #append(line: string): void {
    const fd = openOwnFile(this.path, O_WRONLY | O_CREAT | O_APPEND);
    try {
      appendFileSync(fd, line);
    } finally {
      closeSync(fd);
    }
  }

  #rotate(): void {
    const size = lstatSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(this.path, join(this.path, '..', rotatedName));
  }
}
