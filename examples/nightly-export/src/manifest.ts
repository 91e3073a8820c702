import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/** Manifest of a complete daily export. */
export interface Manifest {
  readonly day: string;
  /** Name of the file with the sessions, one document per line. */
  readonly file: string;
  readonly bytes: number;
  /** SHA-256 of the file, in hex, as `sha256sum` prints it. */
  readonly sha256: string;
  readonly sessions: number;
}

/** Reads the manifest of a day; undefined if the day has not been completely exported. */
export async function readManifest(path: string): Promise<Manifest | undefined> {
  try {
    return JSON.parse(await readFile(path, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes a manifest atomically. */
export async function writeManifest(path: string, manifest: Manifest): Promise<void> {
  await writeFile(`${path}.part`, `${JSON.stringify(manifest, undefined, 2)}\n`, { flush: true });
  await rename(`${path}.part`, path);
}

/** Returns the SHA-256 of a file, in hex. */
export async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
