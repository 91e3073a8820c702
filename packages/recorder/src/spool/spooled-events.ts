import { closeSync, constants, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Actlog } from '@actlog/client';
import { tenantSecret } from '../delivery/session-queues.ts';
import {
  assertOwnFolder,
  isAlive,
  openOwnFile,
  type ProcessIdentity,
  parseFolderName,
  UntrustedFileError,
} from '../journal/own-file.ts';
import { realFiles, Segment } from '../journal/segment.ts';
import { loadUnread, survey } from '../journal/segment-survey.ts';
import { releasedSuffix } from '../journal/spool-folder.ts';
import { tenantFolderName, userFolders } from '../journal/spool-location.ts';
import { environmentVariable } from '../lib/option-checks.ts';
import { deadLetterFiles } from '../outbox/dead-letters.ts';

/** State of the process that owns a journal: `running`, or `ended` and waiting for another to take it over. */
export type JournalOwner = 'running' | 'ended';

/** Journal of one process on disk, as it was when it was read. */
export interface ProcessJournal {
  /** Folder of the journal. */
  readonly path: string;
  /** Process that owns it; its id means something only on `isThisMachine`. */
  readonly process: ProcessIdentity;
  readonly owner: JournalOwner;
  /** Time at which the process created the journal, in Unix milliseconds. */
  readonly createdAtMs: number;
  /** Size of all segments, in bytes. */
  readonly bytes: number;
  /** Number of events that are not settled. */
  readonly waiting: number;
  /** Number of records with a wrong checksum. In the journal of a running process, the last may be incomplete. */
  readonly damaged: number;
  /** Segments with events that wait, oldest first. */
  readonly segments: readonly string[];
  /** Reasons why files are not used: other users could have changed them, or they cannot be read. */
  readonly problems: readonly string[];
}

/**
 * Reads the journals in the folder of a tenant, oldest first; none if the folder does not exist. Processes may write to
 * them meanwhile, and nothing is locked.
 *
 * @throws UntrustedFileError when other users can change the folder
 * @throws the system's error when the folder cannot be read
 */
export function readProcessJournals(tenantFolder: string): ProcessJournal[] {
  return unlessGone([], () => {
    realFiles.assertOwnFolder(tenantFolder);
    return realFiles.list(tenantFolder).flatMap((name) => {
      const path = join(tenantFolder, name);
      return unlessGone([], () => readJournal(path, name));
    });
  });
}

function readJournal(path: string, name: string): ProcessJournal[] {
  const isReleased = name.endsWith(releasedSuffix);
  const process = parseFolderName(isReleased ? name.slice(0, -releasedSuffix.length) : name);
  if (!process) return [];
  const silenceMs = Date.now() - realFiles.modifiedAtMs(path);
  const content = new JournalContent();
  content.add(path);
  return [
    {
      path,
      process,
      owner: !isReleased && isAlive(process, silenceMs) ? 'running' : 'ended',
      createdAtMs: Number.parseInt(name, 10),
      ...content,
    },
  ];
}

/** Sums of the segments in a folder, and in the folders that its process has taken over. */
class JournalContent {
  bytes = 0;
  waiting = 0;
  damaged = 0;
  readonly segments: string[] = [];
  readonly problems: string[] = [];

  add(folder: string): void {
    this.#attempt(folder, () => {
      realFiles.assertOwnFolder(folder);
      const names = realFiles.list(folder);
      // Events that were taken over are older, and are delivered first.
      for (const name of names) if (parseFolderName(name)) this.add(join(folder, name));
      for (const name of names.filter((each) => each.endsWith('.seg'))) {
        const path = join(folder, name);
        this.#attempt(path, () => this.#addSegment(path));
      }
    });
  }

  #addSegment(path: string): void {
    realFiles.assertOwnSegment(path);
    const bytes = realFiles.size(path);
    const segment = adoptedSegment(path, bytes);
    this.damaged += survey(realFiles, segment);
    this.bytes += bytes;
    this.waiting += segment.unread;
    if (segment.unread > 0) this.segments.push(path);
  }

  /** Records why a file or folder cannot be used. A missing one was delivered or taken over meanwhile. */
  #attempt(path: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT') return;
      this.problems.push(
        error instanceof UntrustedFileError ? message : `${path} cannot be read (${code ?? message}).`,
      );
    }
  }
}

/** Returns a segment of another process, of which nothing is settled here. */
function adoptedSegment(path: string, bytes: number): Segment {
  return new Segment({ path, bytes, isAdopted: true, onSettled() {} });
}

function unlessGone<Value>(otherwise: Value, read: () => Value): Value {
  try {
    return read();
  } catch (error) {
    if (isMissing(error)) return otherwise;
    throw error;
  }
}

/**
 * Returns the folders of all deployments and tenants in the folder of a user, sorted by name; none if it does not
 * exist.
 *
 * @throws UntrustedFileError when other users can change the folder
 * @throws the system's error when the folder cannot be read
 */
export function listTenantFolders(userFolder: string): string[] {
  try {
    assertOwnFolder(userFolder);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  const names = readdirSync(userFolder).filter((name) => /^[0-9a-f]{16}$/.test(name));
  return names.sort().map((name) => join(userFolder, name));
}

/** `true` if a file or folder does not exist, or one of its parents is a file. */
function isMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ENOTDIR';
}

/** Options of {@link spoolPlaces}, with the meaning and the defaults that they have for a recorder. */
export interface SpoolPlaceOptions {
  /** Client with the address and the key of the recorders; undefined if these are unknown. */
  readonly client?: Actlog | undefined;
  /** Default: `ACTLOG_SPOOL_DIR`, then the user's state folder, otherwise the folder for temporary files. */
  readonly spoolDir?: string | undefined;
  /** Default: `ACTLOG_TENANT`. */
  readonly tenant?: string | undefined;
}

/** Folders in which the recorders of a user keep events. They may not exist yet. */
export interface SpoolPlace {
  /** Folder of this user, with one folder for each deployment and tenant. */
  readonly userFolder: string;
  /** Folder of the client's deployment and tenant; undefined without a client. */
  readonly tenantFolder: string | undefined;
}

/**
 * Returns the places of the spool in order of preference, without creating a folder. A recorder uses the first that it
 * can use; there is one if `spoolDir` is set.
 */
export function spoolPlaces({ client, spoolDir, tenant }: SpoolPlaceOptions = {}): SpoolPlace[] {
  const configured = spoolDir ?? environmentVariable('ACTLOG_SPOOL_DIR');
  const name =
    client && tenantFolderName(tenantSecret(client, tenant || environmentVariable('ACTLOG_TENANT')));
  return userFolders(configured === undefined ? undefined : resolve(configured)).map((userFolder) => ({
    userFolder,
    tenantFolder: name && join(userFolder, name),
  }));
}

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

/** Identity of an event: ids, tool and time, but nothing of its arguments. */
export interface WaitingEvent {
  readonly eventId: string;
  readonly agentId: string;
  readonly sessionId: string;
  /** Time of the event, ISO 8601 in UTC. */
  readonly sourceTimestamp: string;
  readonly category: string;
  /** Name of the tool; undefined for categories without one. */
  readonly toolName: string | undefined;
}

/** Reads the events that wait in a journal, oldest first. Files that are gone or unreadable are skipped. */
export function* readWaitingEvents({ segments }: ProcessJournal): Generator<WaitingEvent> {
  for (const path of segments) yield* eventsIn(path);
}

function* eventsIn(path: string): Generator<WaitingEvent> {
  try {
    realFiles.assertOwnSegment(path);
    const segment = adoptedSegment(path, realFiles.size(path));
    survey(realFiles, segment);
    while (segment.unread > 0) {
      const { events } = loadUnread(realFiles, segment);
      for (const { body } of events) yield describeEvent(JSON.parse(body));
    }
  } catch {
    // The process delivered the events, or another took them over.
  }
}

/** Returns the identity of an event that is parsed but not validated. */
function describeEvent(event: Record<string, unknown> | undefined): WaitingEvent {
  const { toolName } = (event?.payload ?? {}) as { toolName?: unknown };
  return {
    eventId: String(event?.eventId),
    agentId: String(event?.agentId),
    sessionId: String(event?.sessionId),
    sourceTimestamp: String(event?.sourceTimestamp),
    category: String(event?.category),
    toolName: typeof toolName === 'string' ? toolName : undefined,
  };
}
