import type { BodySink } from './body-sink.ts';
import type { ExportProgress } from './export-progress.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';
import { FinalFailure } from './final-failure.ts';

/** Bytes from which pieces are handed over to the platform, which may then keep them on the disk. */
const partBytes = 1024 * 1024;

/** Gathers one download into a `Blob`, and counts its events on the way. */
export class ExportBlobSink implements BodySink {
  readonly #onProgress: ((progress: ExportProgress) => void) | undefined;
  readonly #scanner = new ExportScanner(() => {});
  readonly #parts: Blob[] = [];
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #pending = 0;
  #bytes = 0;

  constructor(onProgress?: (progress: ExportProgress) => void) {
    this.#onProgress = onProgress;
  }

  write(chunk: Uint8Array): void {
    try {
      this.#scanner.feed(chunk);
      this.#pieces.push(chunk as Uint8Array<ArrayBuffer>);
      this.#pending += chunk.length;
      this.#bytes += chunk.length;
      if (this.#pending >= partBytes) this.#handOver();
      this.#onProgress?.({ bytes: this.#bytes, events: this.#scanner.eventCount });
    } catch (cause) {
      throw new FinalFailure('the export could not be kept', { cause });
    }
  }

  /** All that came, and what it says. */
  finish(): { blob: Blob; scanned: ScannedExport } {
    this.#handOver();
    return { blob: new Blob(this.#parts, { type: 'application/json' }), scanned: this.#scanner.end() };
  }

  #handOver(): void {
    this.#parts.push(new Blob(this.#pieces));
    this.#pieces = [];
    this.#pending = 0;
  }
}
