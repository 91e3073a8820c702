import { accessSync, constants, existsSync, lstatSync, statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import {
  assertOwnFolder,
  type ProcessJournal,
  readDeadLetters,
  type SpoolPlace,
  spoolPlaces,
  UntrustedFileError,
} from '@actlog/recorder/spool';
import {
  countOf,
  formatBytes,
  oldestWaiting,
  surveySpool,
  type TenantSpool,
} from '../../spool/spool-survey.ts';
import { type Check, type Facts, found, known, type Outcome, ok } from '../check.ts';
import { codeOf } from '../connect-to.ts';

/** Check that a recorder of this user can keep events on disk, by the rules of the recorder. */
export const spoolFolder: Check = {
  id: 'spool-folder',
  title: 'Spool folder',
  run(facts) {
    const places = placesOf(facts);
    const problems = places.map(({ userFolder, tenantFolder }) => {
      return problemOf(userFolder) ?? (tenantFolder && problemOf(tenantFolder));
    });
    const usable = problems.indexOf(undefined);
    const [first] = problems;
    // Where one default folder cannot be written, the next is used. One that others can change may hold events.
    if (first && (usable < 0 || first.code !== 'spool-not-writable')) return first;
    const { userFolder, tenantFolder } = places[usable] as SpoolPlace;
    return survey(facts, userFolder, tenantFolder);
  },
};

function placesOf({ client, variables }: Facts): SpoolPlace[] {
  const spoolDir = variables.get('ACTLOG_SPOOL_DIR');
  return spoolPlaces({ client, spoolDir, tenant: variables.get('ACTLOG_TENANT') });
}

function survey(facts: Facts, userFolder: string, tenantFolder: string | undefined): Outcome {
  const spool = surveySpool(userFolder, tenantFolder);
  facts.spool = spool;
  const journals = spool.tenants.flatMap((tenant) => tenant.journals);
  const [problem] = [
    ...spool.problems.map(({ message }) => message),
    ...journals.flatMap((journal) => journal.problems),
  ];
  return problem === undefined ? ok(userFolder) : found('spool-files-skipped', { problem });
}

/** Returns the reason for which a recorder cannot use a folder, or create it. */
function problemOf(path: string): Outcome | undefined {
  try {
    assertOwnFolder(path);
    accessSync(path, constants.R_OK | constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    if (error instanceof UntrustedFileError) return untrusted(path, error);
    const code = codeOf(error);
    const isMissing = code === 'ENOENT' || code === 'ENOTDIR';
    return isMissing ? creationProblem(dirname(path)) : found('spool-not-writable', { path, code });
  }
}

function untrusted(path: string, { because }: UntrustedFileError): Outcome {
  const { uid, mode } = lstatSync(path);
  const own = process.geteuid?.() ?? 0;
  if (because === 'owner') return found('spool-owner', { path, uid, own });
  if (because === 'type') return found('spool-not-a-folder', { path });
  return found('spool-mode', { path, mode: (mode & 0o777).toString(8).padStart(4, '0') });
}

/** Returns the reason for which a folder cannot be created in `parent`, or in the first parent of it that exists. */
function creationProblem(parent: string): Outcome | undefined {
  try {
    if (!statSync(parent).isDirectory()) return found('spool-not-a-folder', { path: parent });
    accessSync(parent, constants.W_OK | constants.X_OK);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    const above = dirname(parent);
    if (code === 'ENOENT' && above !== parent) return creationProblem(above);
    // There is a file where a folder should be.
    return code === 'ENOTDIR' ? creationProblem(above) : found('spool-not-writable', { path: parent, code });
  }
}

const mebibyte = 1024 * 1024;
/** Free space below which the journal is about to fail, in bytes. */
const minFreeBytes = 16 * mebibyte;

/** Check of the size of each journal against its limit, and of the free space of the disk. */
export const spoolSize: Check = {
  id: 'spool-size',
  title: 'Spool size',
  requires: ['spool-folder'],
  run({ spool, options }) {
    const { userFolder, tenants } = known(spool);
    const journals = tenants.flatMap((tenant) => tenant.journals);
    const problems = journals.flatMap((journal) => fullness(journal, options.maxSpoolBytes));
    const freeBytes = freeBytesOf(userFolder);
    const free = formatBytes(freeBytes);
    if (freeBytes < minFreeBytes) problems.push(found('disk-full', { path: userFolder, free }));
    if (problems.length > 0) return problems;
    const bytes = journals.reduce((sum, journal) => sum + journal.bytes, 0);
    return ok(`${formatBytes(bytes)} in ${countOf(journals.length, 'journal')}, ${free} free`);
  },
};

/** Finds a full journal. It makes room by whole segments, so its size stays within one segment of the limit. */
function fullness({ owner, bytes, process: { pid } }: ProcessJournal, maxBytes: number): Outcome[] {
  const segmentBytes = Math.min(mebibyte, maxBytes / 4);
  if (owner !== 'running' || bytes + segmentBytes < maxBytes) return [];
  return [found('spool-full', { pid, size: formatBytes(bytes), limit: formatBytes(maxBytes) })];
}

/** Returns the free space for this user on the disk of a folder, which may not exist yet. */
function freeBytesOf(path: string): number {
  const folder = existsSync(path) ? path : dirname(path);
  if (folder !== path && folder !== dirname(folder) && !existsSync(folder)) return freeBytesOf(folder);
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

/** Time after which events of a running process should have been delivered, in milliseconds. */
const deliveryMs = 5 * 60_000;

/** Check of the events that wait on disk. */
export const waitingEvents: Check = {
  id: 'waiting',
  title: 'Waiting events',
  requires: ['spool-folder'],
  run({ spool, client }) {
    const { tenants } = known(spool);
    // Without the address and the key, the folder of each is unknown.
    const current = tenants.filter(({ isCurrent }) => isCurrent || !client);
    const journals = current.flatMap((tenant) => tenant.journals);
    const others = tenants.filter((tenant) => !current.includes(tenant));
    const problems = [...ofEnded(journals), ...ofRunning(journals), ...others.flatMap(ofOthers)];
    return problems.length > 0 ? problems : ok(stateOf(journals));
  },
};

function ofEnded(journals: readonly ProcessJournal[]): Outcome[] {
  const ended = journals.filter(({ owner }) => owner === 'ended');
  const since = oldestWaiting(ended);
  return since === undefined ? [] : [found('waiting-of-ended', { count: events(ended), since })];
}

function ofRunning(journals: readonly ProcessJournal[]): Outcome[] {
  const running = journals.filter(({ owner, waiting }) => owner === 'running' && waiting > 0);
  const since = oldestWaiting(running);
  if (since === undefined || Date.now() - Date.parse(since) < deliveryMs) return [];
  const pids = running.map(({ process: { pid } }) => pid).join(', ');
  return [found('waiting-too-long', { count: events(running), pids, since })];
}

function ofOthers({ folder, journals }: TenantSpool): Outcome[] {
  // A running process delivers its events itself.
  const ended = journals.filter(({ owner, waiting }) => owner === 'ended' && waiting > 0);
  return ended.length === 0 ? [] : [found('waiting-elsewhere', { count: events(ended), path: folder })];
}

function stateOf(journals: readonly ProcessJournal[]): string {
  const running = journals.filter(({ owner }) => owner === 'running');
  if (running.length === 0) return 'none';
  const owners = running.map(({ process: { pid } }) => pid).join(', ');
  return `${events(running)}, of ${running.length === 1 ? 'process' : 'processes'} ${owners}`;
}

function events(journals: readonly ProcessJournal[]): string {
  return countOf(
    journals.reduce((sum, { waiting }) => sum + waiting, 0),
    'event',
  );
}

/** Check of the events that the service rejected permanently. */
export const deadLetters: Check = {
  id: 'dead-letters',
  title: 'Dead letters',
  requires: ['spool-folder'],
  run({ spool }) {
    const problems = known(spool).tenants.flatMap(({ folder }) => lettersIn(folder));
    return problems.length > 0 ? problems : ok('none');
  },
};

function lettersIn(folder: string): Outcome[] {
  try {
    const letters = [...readDeadLetters(folder)];
    const last = letters.at(-1);
    if (!last) return [];
    const reason = last.reason.replace(/\.$/, '');
    return [
      found('dead-letters', {
        count: countOf(letters.length, 'event'),
        time: last.deadLetteredAt,
        reason,
        path: folder,
      }),
    ];
  } catch (error) {
    return [found('dead-letters-unreadable', { problem: (error as Error).message })];
  }
}
