import { existsSync, statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { ProcessJournal } from '@actlog/recorder/spool';
import { countOf } from '../../spool/count-of.ts';
import { formatBytes } from '../../spool/format-bytes.ts';
import { type Check, found, type Outcome, ok } from '../check.ts';
import { known } from '../known.ts';

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

/** A full journal makes room by whole segments, so its size stays within one segment of the limit. */
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
