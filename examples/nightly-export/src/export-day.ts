import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import type { Actlog, Session } from '@actlog/client';
import { type Manifest, readManifest, sha256, writeManifest } from './manifest.ts';

/** Options of a daily export. */
export interface DayExport {
  /** Past day in UTC, such as `2026-01-05`. */
  readonly day: string;
  /** Folder for `sessions-DAY.ndjson` and `sessions-DAY.manifest.json`. */
  readonly folder: string;
  /** Ends the export; the next one continues from there. */
  readonly signal?: AbortSignal;
  /** Called for every downloaded session. */
  readonly onSession?: (id: string) => void;
}

/**
 * Exports the sessions that began on a day to one newline-delimited file: one document per line, with events and risk.
 * Does nothing if the day is already exported.
 *
 * Every session is first downloaded to its own file, which appears only when it is complete and matches the service's
 * hash. After an interruption, only missing sessions are downloaded. No session is kept in memory.
 */
export async function exportDay(client: Actlog, options: DayExport): Promise<Manifest> {
  const { day, folder } = options;
  const file = `sessions-${day}.ndjson`;
  const manifestPath = join(folder, `sessions-${day}.manifest.json`);
  const done = await readManifest(manifestPath);
  if (done && (await isWhole(join(folder, file), done))) return done;

  const parts = join(folder, `.sessions-${day}`);
  await mkdir(parts, { recursive: true });
  await download(client, parts, options);

  const target = join(folder, file);
  const sessions = await concatenate(parts, `${target}.part`);
  await rename(`${target}.part`, target);
  const { size: bytes } = await stat(target);
  const manifest = { day, file, bytes, sha256: await sha256(target), sessions };
  await writeManifest(manifestPath, manifest);
  await rm(parts, { recursive: true });
  return manifest;
}

async function isWhole(path: string, manifest: Manifest): Promise<boolean> {
  const { size } = await stat(path).catch(() => ({ size: -1 }));
  return size === manifest.bytes && (await sha256(path)) === manifest.sha256;
}

async function download(client: Actlog, parts: string, { day, signal, onSession }: DayExport): Promise<void> {
  const present = new Set(await readdir(parts));
  for await (const { id } of sessionsOf(client, day, signal)) {
    const name = partName(id);
    if (present.has(name)) continue;
    const { verified } = await client.sessions.exportToFile(id, join(parts, name), { signal });
    if (!verified) console.warn(`The service sent no hash for ${id}: it was not checked.`);
    onSession?.(id);
  }
}

/** Returns the sessions that began on a day in UTC. Both filters are exclusive, so the first one is a moment earlier. */
function sessionsOf(client: Actlog, day: string, signal?: AbortSignal): AsyncIterable<Session> {
  const beganMs = Date.parse(`${day}T00:00:00.000Z`);
  const startedAfter = new Date(beganMs - 1);
  const endedMs = beganMs + 24 * 3_600_000;
  if (!(endedMs <= Date.now()))
    throw new RangeError(`day must be a day that is over, as YYYY-MM-DD: ${day}.`);
  const startedBefore = new Date(endedMs);
  return client.sessions.list({ startedAfter, startedBefore, limit: 200 }, { prefetch: true, signal });
}

/** Returns a file name for a session: its id may be too long, or contain characters that file names must not have. */
function partName(id: string): string {
  return `${createHash('sha256').update(id).digest('hex')}.json`;
}

/** Joins the parts, one per line. Line breaks in a document are only white space, because they are escaped in its texts. */
async function concatenate(parts: string, target: string): Promise<number> {
  const names = (await readdir(parts)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name)).sort();
  await pipeline(
    async function* () {
      for (const name of names) {
        for await (const piece of createReadStream(join(parts, name))) {
          yield (piece as Buffer).map((byte) => (byte === 0x0a || byte === 0x0d ? 0x20 : byte));
        }
        yield '\n';
      }
    },
    createWriteStream(target, { flush: true }),
  );
  return names.length;
}
