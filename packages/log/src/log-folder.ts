import { randomUUID } from 'node:crypto';
import { link, mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { LogSource } from './log-source.ts';
import { parseNote } from './signed-note.ts';
import { type StoredTile, type Tile, type TileStore, tilePath } from './tiles.ts';
import { originHash, type WitnessedCheckpoint, type WitnessStore } from './witness.ts';

/** Number of files that are written at once: a process can only open some. */
const writtenAtOnce = 64;

/**
 * A log in a folder with the paths of C2SP tlog-tiles, so that any web server can serve it. Every file is complete or
 * absent, whenever the process ends.
 */
export class LogFolder implements TileStore, LogSource {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The tiles, as a {@link LogSource} has them. */
  get tiles(): TileStore {
    return this;
  }

  async readTile(tile: Tile): Promise<Uint8Array | undefined> {
    return readIfExists(join(this.#folder, tilePath(tile)));
  }

  async writeTiles(tiles: readonly StoredTile[]): Promise<void> {
    for (let first = 0; first < tiles.length; first += writtenAtOnce) {
      const some = tiles.slice(first, first + writtenAtOnce);
      await Promise.all(
        some.map(({ tile, bytes }) => replaceFile(join(this.#folder, tilePath(tile)), bytes)),
      );
    }
  }

  /** Returns the signed checkpoint; undefined if there is none. */
  async readCheckpoint(): Promise<string | undefined> {
    return (await readIfExists(join(this.#folder, 'checkpoint')))?.toString('utf8');
  }

  /** Stores a signed checkpoint, after all of its tiles. */
  async writeCheckpoint(note: string): Promise<void> {
    await replaceFile(join(this.#folder, 'checkpoint'), note);
  }
}

/** Pattern of the files of a witness: the number is the revision. */
const revisionPattern = /^checkpoint\.(\d+)$/;

/**
 * Memory of a witness in a folder, with one folder per log. Each checkpoint is a new file with the next number, which
 * only one process can create, and which exists only when it is complete. So several processes may use one folder, and
 * may end at any time.
 */
export class WitnessFolder implements WitnessStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(origin: string): Promise<WitnessedCheckpoint | undefined> {
    const folder = join(this.#folder, originHash(origin));
    while (true) {
      const revision = (await revisionsIn(folder)).at(-1);
      if (revision === undefined) return undefined;
      const note = await readIfExists(join(folder, `checkpoint.${revision}`));
      // Otherwise another process has stored a later one meanwhile, and removed this.
      if (note) {
        parseNote(note.toString('utf8'));
        return { revision, note: note.toString('utf8') };
      }
    }
  }

  async write(origin: string, { revision, note }: WitnessedCheckpoint): Promise<boolean> {
    const folder = join(this.#folder, originHash(origin));
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const unfinished = join(folder, `${randomUUID()}.unfinished`);
    try {
      await writeSynced(unfinished, note);
      await link(unfinished, join(folder, `checkpoint.${revision}`));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
      throw error;
    } finally {
      await rm(unfinished, { force: true });
    }
    await syncFolder(folder);
    await syncFolder(this.#folder);
    // A later number means that this one had been taken and removed before.
    const revisions = await revisionsIn(folder);
    if (revisions.at(-1) !== revision) return false;
    for (const earlier of revisions.slice(0, -1))
      await rm(join(folder, `checkpoint.${earlier}`), { force: true });
    return true;
  }
}

async function revisionsIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  return names
    .map((name) => revisionPattern.exec(name)?.[1])
    .filter((revision) => revision !== undefined)
    .map(Number)
    .sort((left, right) => left - right);
}

async function readIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  const unfinished = join(folder, `${randomUUID()}.unfinished`);
  try {
    await writeSynced(unfinished, content);
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

async function writeSynced(path: string, content: string | Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes new names in a folder durable. Windows does that by itself, and cannot open a folder. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
