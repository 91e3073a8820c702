import { readDeadLetters } from '@actlog/recorder/spool';

/** Number of the events that the service rejected, and the reason of the last. */
export interface DeadLetterSummary {
  readonly count: number;
  readonly lastAt: string | null;
  readonly lastReason: string | null;
}

/** Summarizes the dead letters of a folder. Files that cannot be read count as none. */
export function deadLettersOf(folder: string): DeadLetterSummary {
  let count = 0;
  let lastAt: string | null = null;
  let lastReason: string | null = null;
  try {
    for (const { deadLetteredAt, reason } of readDeadLetters(folder)) {
      count += 1;
      lastAt = deadLetteredAt;
      lastReason = reason;
    }
  } catch {
    // `actlog doctor` reports the reason.
  }
  return { count, lastAt, lastReason };
}
