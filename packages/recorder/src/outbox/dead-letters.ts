import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** A dead-letter file beyond this is moved aside, over the one that was moved aside before. */
const maxBytes = 16 * 1024 * 1024;

/**
 * Events that the service refused for good, with the reason: one JSON object a line, `{deadLetteredAt, reason,
 * event}`, in `dead-letters.jsonl` of the spool folder, readable by its owner only and shared by all processes.
 */
export class DeadLetters {
  /** The file. */
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, 'dead-letters.jsonl');
  }

  /** Keeps an event; returns whether that worked. */
  add(body: string, reason: string): boolean {
    const head = JSON.stringify({ deadLetteredAt: new Date().toISOString(), reason });
    try {
      this.#rotate();
      // One write of one line: lines of several processes do not mix.
      appendFileSync(this.path, `${head.slice(0, -1)},"event":${body}}\n`, { mode: 0o600 });
      return true;
    } catch {
      return false;
    }
  }

  #rotate(): void {
    const size = statSync(this.path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > maxBytes) renameSync(this.path, join(this.path, '..', 'dead-letters.1.jsonl'));
  }
}
