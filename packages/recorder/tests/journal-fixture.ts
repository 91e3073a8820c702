import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { QueuedEvent } from '../src/delivery/session-queues.ts';
import { eventBody } from '../src/events/event.ts';
import { Journal } from '../src/journal/journal.ts';
import { type JournalFiles, realFiles } from '../src/journal/segment.ts';
import type { JournalOptions } from '../src/journal/spool-location.ts';

/** Higher than any process id of Linux. */
export const noProcess = 4_194_305;

/** Creates a temporary folder that is removed after the test. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'actlog-journal-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Returns the folder of the only user and tenant with journals in a `spoolDir`. */
export function tenantFolderIn(spoolDir: string): string {
  const [user = ''] = readdirSync(spoolDir);
  const [tenant = ''] = readdirSync(join(spoolDir, user));
  return join(spoolDir, user, tenant);
}

/** Creates an event with a recognizable id. */
export function numberedEvent(
  number: number,
  fields: { session?: string; status?: number } = {},
): QueuedEvent {
  const eventId = `00000000-0000-7000-8000-${String(number).padStart(12, '0')}`;
  const sessionId = fields.session ?? 'session';
  const responseStatus = fields.status ?? 200;
  const body = eventBody({
    eventId,
    sessionId,
    responseStatus,
    agentId: 'agent',
    sourceTimestamp: '2026-01-01T00:00:00.000Z',
    toolName: 'tool',
    argumentsHash: 'sha256:0',
  });
  return new QueuedEvent({ eventId, sessionId, isImportant: responseStatus >= 400, body, originKey: '[]' });
}

/** Returns the number passed to {@link numberedEvent}. */
export function numberOf({ eventId }: QueuedEvent): number {
  return Number(eventId.slice(-12));
}

/** Reports of a journal. */
export interface JournalTold {
  unreadable: number;
  adopted: number;
  failures: number;
  notTaken: number;
  moved?: number;
}

/** Opens a journal and collects its reports. */
export function openTestJournal(
  root: string,
  options: Partial<JournalOptions> = {},
): { journal: Journal; told: JournalTold } {
  const told: JournalTold = { unreadable: 0, adopted: 0, failures: 0, notTaken: 0 };
  const journal = new Journal({
    root,
    files: realFiles,
    maxBytes: 1024 * 1024,
    segmentBytes: 2000,
    isSynced: false,
    onUnreadable: (count) => {
      told.unreadable += count;
    },
    onAdopted: (count) => {
      told.adopted += count;
    },
    onMoved: (count) => {
      told.moved = (told.moved ?? 0) + count;
    },
    onNotTaken: () => {
      told.notTaken += 1;
    },
    onFailure: () => {
      told.failures += 1;
    },
    ...options,
  });
  return { journal, told };
}

/** Makes the folders of this process look like those of a dead one. */
export function endOwners(root: string): void {
  for (const name of readdirSync(root)) {
    const parts = name.split('-');
    if (parts.length === 5) {
      parts[2] = String(noProcess);
      renameSync(join(root, name), join(root, parts.join('-')));
    }
  }
}

/** Returns everything that the next process finds. */
export function recoverAll(root: string): { events: QueuedEvent[]; told: JournalTold; journal: Journal } {
  endOwners(root);
  const { journal, told } = openTestJournal(root);
  journal.adopt(Date.now());
  const events: QueuedEvent[] = [];
  while (journal.hasUnread) events.push(...journal.readMore());
  return { events, told, journal };
}

/** Returns the real file operations, until one is made to fail. */
export function breakableFiles(
  onOperation: (name: keyof JournalFiles, args: unknown[]) => void,
): JournalFiles {
  return new Proxy(realFiles, {
    get(files, name: keyof JournalFiles) {
      return (...args: unknown[]) => {
        onOperation(name, args);
        return (files[name] as (...args: unknown[]) => unknown)(...args);
      };
    },
  });
}
