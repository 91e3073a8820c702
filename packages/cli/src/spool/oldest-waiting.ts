import { type ProcessJournal, readWaitingEvents } from '@actlog/recorder/spool';

/** Returns the time of the oldest event that waits in these journals, ISO 8601; undefined if none waits. */
export function oldestWaiting(journals: readonly ProcessJournal[]): string | undefined {
  const times = journals.flatMap((journal) => {
    const { value } = readWaitingEvents(journal).next();
    return value ? [value.sourceTimestamp] : [];
  });
  return times.sort()[0];
}
