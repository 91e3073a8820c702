import { appendFileSync, closeSync, constants, lstatSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import type { QueuedEvent } from '../delivery/queued-event.ts';
import { factsIn } from '../events/event-body.ts';
import { openOwnFile } from '../journal/own-file.ts';
import type { FactRefusals } from '../reporting/fact-refusals.ts';
import { type Counters, type DropReason, publish, type Reporter } from '../reporting/reporter.ts';

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

/** Dependencies of {@link Losses}. */
export interface LossesOptions {
  readonly deadLetters: DeadLetters | undefined;
  readonly counters: Counters;
  readonly reporter: Reporter;
  readonly refusals: FactRefusals;
}

/** Counts the events that the service will never receive, and reports each. */
export class Losses {
  readonly #options: LossesOptions;
  /** Reason of the loss being reported. */
  #reporting: DropReason | undefined;

  constructor(options: LossesOptions) {
    this.#options = options;
  }

  /**
   * Returns `true` while a loss for this reason is being reported, so that the callback may be recording further
   * events.
   */
  isReporting(reason: DropReason): boolean {
    return this.#reporting === reason;
  }

  /**
   * Reports a lost event. If it was lost while another loss was being reported, it is only counted, to prevent endless
   * recursion.
   */
  drop(event: QueuedEvent, reason: DropReason): void {
    const { counters, reporter } = this.#options;
    const outer = this.#reporting;
    if (outer === reason) {
      counters.droppedByReason[reason] += 1;
      return;
    }
    this.#reporting = reason;
    try {
      reporter.dropped(event.body, reason);
    } finally {
      this.#reporting = outer;
    }
  }

  /**
   * Handles an event that the service rejected permanently: stores it in the dead-letter file, if there is one. An event
   * with further facts about a call is left out: it only adds to the event of the call.
   */
  deadLetter(event: QueuedEvent, reason: string): void {
    const { counters, deadLetters, reporter, refusals } = this.#options;
    const facts = factsIn(event.body);
    if (facts) {
      counters.omitted += 1;
      refusals.noteEvent(facts);
      return;
    }
    if (!deadLetters?.add(event.body, reason)) {
      this.drop(event, 'refused');
      return;
    }
    counters.deadLettered += 1;
    publish('dead-lettered', () => ({ eventId: event.eventId, sessionId: event.sessionId, reason }));
    reporter.failed(
      'refused',
      new Error(`The service rejected an event: ${reason}. It is stored in ${deadLetters.path}.`),
    );
  }
}
