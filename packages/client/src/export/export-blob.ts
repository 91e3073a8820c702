import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ApiResponse, BodySink } from '../response/api-response.ts';
import { NonRetryableError } from '../retry/retry-after.ts';
import { checkExport, type ExportProgress, type ExportToFileOptions } from './export-file.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';

/** Options of an export to a `Blob`. */
export type ExportToBlobOptions = ExportToFileOptions;

/** An exported session as a `Blob`. */
export interface ExportedBlob {
  /** The document, byte for byte as received. */
  readonly blob: Blob;
  /** Number of events; undefined if the document has no array named `events`. */
  readonly eventCount: number | undefined;
}

/** Downloads an exported session; see `Sessions.exportToBlob`. */
export async function exportToBlob(
  caller: EndpointCaller,
  id: RecordId,
  options: ExportToBlobOptions,
): Promise<ExportedBlob> {
  let sink: ExportBlobSink | undefined;
  const openSink = () => {
    sink = new ExportBlobSink(options.onProgress);
    return sink;
  };
  const finish = (response: ApiResponse): ExportedBlob => {
    const { blob, scanned } = (sink as ExportBlobSink).finish();
    checkExport(scanned, undefined, response);
    return { blob, eventCount: scanned.eventCount };
  };
  const { data } = await caller.run('sessions.export', { id, options }, finish, openSink);
  return data;
}

/** Number of buffered bytes that are moved to a `Blob`, which the platform may keep on disk. */
const partBytes = 1024 * 1024;

/** Collects a download in a `Blob` and counts its events. */
class ExportBlobSink implements BodySink {
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
