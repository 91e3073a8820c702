import type { Answer } from './answer.ts';
import type { Caller } from './caller.ts';
import { ExportBlobSink } from './export-blob-sink.ts';
import { checkExport } from './export-document.ts';
import type { ExportToFileOptions } from './export-file.ts';

/** Options of an export to a `Blob`. */
export type ExportToBlobOptions = ExportToFileOptions;

/** An exported session as a `Blob`. */
export interface ExportedBlob {
  /** The document, byte for byte as it came. */
  readonly blob: Blob;
  /** How many events there are; undefined where the document has no array named `events`. */
  readonly eventCount: number | undefined;
}

/** Downloads an exported session; see `Sessions.exportToBlob`. */
export async function exportToBlob(
  caller: Caller,
  id: string,
  options: ExportToBlobOptions,
): Promise<ExportedBlob> {
  let sink: ExportBlobSink | undefined;
  const openSink = () => {
    sink = new ExportBlobSink(options.onProgress);
    return sink;
  };
  const finish = (answer: Answer): ExportedBlob => {
    const { blob, scanned } = (sink as ExportBlobSink).finish();
    checkExport(scanned, undefined, answer);
    return { blob, eventCount: scanned.eventCount };
  };
  const { data } = await caller.run('sessions.export', { id, options }, finish, openSink);
  return data;
}
