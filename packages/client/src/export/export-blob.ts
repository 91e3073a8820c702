import type { RecordId } from '../records/record-id.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { ApiResponse } from '../response/api-response.ts';
import { ExportBlobSink } from './export-blob-sink.ts';
import { checkExport } from './export-document.ts';
import type { ExportToFileOptions } from './export-file.ts';

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
