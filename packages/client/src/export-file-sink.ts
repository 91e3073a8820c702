import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { BodySink } from './body-sink.ts';
import type { ExportProgress } from './export-progress.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';
import { FinalFailure } from './final-failure.ts';

/** What an `ExportFileSink` works with. */
interface ExportFileParts {
  readonly fs: typeof import('node:fs/promises');
  readonly hash: Hash;
  readonly path: string;
  /** Settled when the sink of the try before has let go of the file. */
  readonly previous: Promise<void> | undefined;
  readonly onProgress: ((progress: ExportProgress) => void) | undefined;
}

/** Writes one download to a file, and hashes and counts its events on the way. */
export class ExportFileSink implements BodySink {
  readonly #parts: ExportFileParts;
  readonly #scanner: ExportScanner;
  readonly #opened: Promise<FileHandle>;
  #bytes = 0;

  constructor(parts: ExportFileParts) {
    this.#parts = parts;
    this.#scanner = new ExportScanner((bytes) => parts.hash.update(bytes));
    this.#opened = this.#open();
    this.#opened.catch(() => {}); // met by the first write, or by `finish`
  }

  async #open(): Promise<FileHandle> {
    await this.#parts.previous;
    return this.#parts.fs.open(this.#parts.path, 'w', 0o600);
  }

  async write(chunk: Uint8Array): Promise<void> {
    try {
      const file = await this.#opened;
      await file.writeFile(chunk);
      this.#scanner.feed(chunk);
      this.#bytes += chunk.length;
      this.#parts.onProgress?.({ bytes: this.#bytes, events: this.#scanner.eventCount });
    } catch (cause) {
      throw new FinalFailure('the export could not be written', { cause });
    }
  }

  /** Puts everything on the disk, and says what came. */
  async finish(): Promise<{ bytes: number; scanned: ScannedExport; sha256: string }> {
    const file = await this.#opened;
    await sync(file);
    await file.close();
    const sha256 = this.#parts.hash.digest('hex');
    return { bytes: this.#bytes, scanned: this.#scanner.end(), sha256 };
  }

  /** Lets go of the file. */
  async close(): Promise<void> {
    const file = await this.#opened.catch(() => undefined);
    await file?.close().catch(() => {});
  }
}

/** Node's permission model and Yarn's Plug'n'Play have no `fsync`: the file is whole without it too, but for a power cut. */
async function sync(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // What fails on the disk itself has the system's own code, such as EIO.
    if (code !== undefined && !code.startsWith('ERR_')) throw error;
  }
}
