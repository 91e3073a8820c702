import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { BodySink } from '../response/body-sink.ts';
import { NonRetryableError } from '../retry/non-retryable-error.ts';
import type { ExportProgress } from './export-progress.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';

/** Dependencies of an `ExportFileSink`. */
interface ExportFileParts {
  readonly fs: typeof import('node:fs/promises');
  readonly hash: Hash;
  readonly path: string;
  /** Settles when the previous attempt's sink has closed the file. */
  readonly previous: Promise<void> | undefined;
  readonly onProgress: ((progress: ExportProgress) => void) | undefined;
}

/** Writes a download to a file, and hashes and counts its events. */
export class ExportFileSink implements BodySink {
  readonly #parts: ExportFileParts;
  readonly #scanner: ExportScanner;
  readonly #opened: Promise<FileHandle>;
  #bytes = 0;

  constructor(parts: ExportFileParts) {
    this.#parts = parts;
    this.#scanner = new ExportScanner((bytes) => parts.hash.update(bytes));
    this.#opened = this.#open();
    this.#opened.catch(() => {}); // handled by `write` and `finish`
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
      throw new NonRetryableError('the export could not be written', { cause });
    }
  }

  /** Flushes the file to disk and returns the totals. */
  async finish(): Promise<{ bytes: number; scanned: ScannedExport; sha256: string }> {
    const file = await this.#opened;
    await sync(file);
    await file.close();
    const sha256 = this.#parts.hash.digest('hex');
    return { bytes: this.#bytes, scanned: this.#scanner.end(), sha256 };
  }

  /** Closes the file. */
  async close(): Promise<void> {
    const file = await this.#opened.catch(() => undefined);
    await file?.close().catch(() => {});
  }
}

/**
 * Flushes the file to disk. Node's permission model and Yarn's Plug'n'Play have no `fsync`; without it, only a power
 * failure can lose data.
 */
async function sync(file: FileHandle): Promise<void> {
  try {
    await file.sync();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // Errors of the disk itself have system codes, such as EIO.
    if (code !== undefined && !code.startsWith('ERR_')) throw error;
  }
}
