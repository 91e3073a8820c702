import type { BodySink } from '../response/body-sink.ts';
import { NonRetryableError } from '../retry/non-retryable-error.ts';
import type { ExportProgress } from './export-progress.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';

/** Number of buffered bytes that are moved to a `Blob`, which the platform may keep on disk. */
const partBytes = 1024 * 1024;

/** Collects a download in a `Blob` and counts its events. */
export class ExportBlobSink implements BodySink {
  readonly #onProgress: ((progress: ExportProgress) => void) | undefined;
  readonly #scanner = new ExportScanner(() => {});
  readonly #parts: Blob[] = [];
  #chunks: Uint8Array<ArrayBuffer>[] = [];
  #pending = 0;
  #bytes = 0;

  constructor(onProgress?: (progress: ExportProgress) => void) {
    this.#onProgress = onProgress;
  }

  write(chunk: Uint8Array): void {
    try {
      this.#scanner.feed(chunk);
      this.#chunks.push(chunk as Uint8Array<ArrayBuffer>);
      this.#pending += chunk.length;
      this.#bytes += chunk.length;
      if (this.#pending >= partBytes) this.#flush();
      this.#onProgress?.({ bytes: this.#bytes, events: this.#scanner.eventCount });
    } catch (cause) {
      throw new NonRetryableError('the export could not be stored', { cause });
    }
  }

  /** Returns the document and the findings of the scanner. */
  finish(): { blob: Blob; scanned: ScannedExport } {
    this.#flush();
    return { blob: new Blob(this.#parts, { type: 'application/json' }), scanned: this.#scanner.end() };
  }

  #flush(): void {
    this.#parts.push(new Blob(this.#chunks));
    this.#chunks = [];
    this.#pending = 0;
  }
}
