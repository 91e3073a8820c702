import { closeSync, constants, readFileSync } from 'node:fs';
import { openOwnFile } from '../journal/own-file.ts';
import { deadLetterFiles } from '../outbox/dead-letters.ts';
import { describeEvent, type WaitingEvent } from './waiting-event.ts';

/** An event that the service rejected permanently. */
export interface DeadLetter {
  /** Time of the rejection, ISO 8601 in UTC. */
  readonly deadLetteredAt: string;
  /** Status, code and message of the service. */
  readonly reason: string;
  readonly event: WaitingEvent;
}

/**
 * Reads the dead letters in the folder of a tenant, oldest first; at most 32 MiB are kept there. Incomplete lines are
 * skipped.
 *
 * @throws UntrustedFileError when other users could have written a file
 * @throws the system's error when a file cannot be read
 */
export function* readDeadLetters(tenantFolder: string): Generator<DeadLetter> {
  for (const path of deadLetterFiles(tenantFolder)) {
    for (const line of textOf(path).split('\n')) {
      const letter = parseLetter(line);
      if (letter) yield letter;
    }
  }
}

function textOf(path: string): string {
  let fd: number;
  try {
    fd = openOwnFile(path, constants.O_RDONLY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  try {
    return readFileSync(fd, 'utf8');
  } finally {
    closeSync(fd);
  }
}

function parseLetter(line: string): DeadLetter | undefined {
  try {
    const { deadLetteredAt, reason, event } = JSON.parse(line);
    return { deadLetteredAt: String(deadLetteredAt), reason: String(reason), event: describeEvent(event) };
  } catch {
    return undefined;
  }
}
