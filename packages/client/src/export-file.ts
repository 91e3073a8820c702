import type { Answer } from './answer.ts';
import type { Caller } from './caller.ts';
import { InvalidArgumentError } from './errors/invalid-argument-error.ts';
import { checkExport } from './export-document.ts';
import { ExportFileSink } from './export-file-sink.ts';
import type { ExportProgress } from './export-progress.ts';
import { builtinModule } from './platform.ts';
import type { RequestOptions } from './request-options.ts';
import { shown } from './shown.ts';

/** Options of an export to a file. */
export interface ExportToFileOptions extends RequestOptions {
  /**
   * Longest silence between two pieces of the document, in milliseconds; the whole may take longer, up to
   * `deadlineMs`.
   */
  readonly timeoutMs?: number | undefined;
  /** Called after every piece; starts again from 0 when the download is retried. */
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined;
}

/** An exported session on the disk. */
export interface ExportedFile {
  readonly path: string;
  readonly bytes: number;
  /** How many events there are; undefined where the document has no array named `events`. */
  readonly eventCount: number | undefined;
  /** SHA-256 in hex over the bytes of the `events` array, as they came; undefined where there is none. */
  readonly contentSha256: string | undefined;
  /** Whether the document carried a `contentSha256` to check it against; when false, nothing was checked. */
  readonly verified: boolean;
}

/** How many characters of a file's name its neighbour has too; a character can be three bytes of the 255 of a name. */
const longestNameStart = 60;

/** Downloads an exported session; see `Sessions.exportToFile`. */
export async function exportToFile(
  caller: Caller,
  id: string,
  path: string,
  options: ExportToFileOptions,
): Promise<ExportedFile> {
  if (typeof path !== 'string' || path === '') {
    throw new InvalidArgumentError(
      `path must be the path of a file, and is ${shown(path)}: fileURLToPath makes one of a URL.`,
    );
  }
  const fs = builtinModule('node:fs/promises');
  const crypto = builtinModule('node:crypto');
  if (fs === undefined || crypto === undefined) {
    throw new InvalidArgumentError(
      'exportToFile needs Node, Bun or Deno: use `exportToBlob` where there are no files.',
    );
  }
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
  // Of a long name the start alone: the whole with its addition could be longer than a name may be.
  const name = path.slice(cut, cut + longestNameStart);
  const partPath = `${path.slice(0, cut)}.${name}.${crypto.randomUUID()}.part`;
  const { onProgress } = options;
  let sink: ExportFileSink | undefined;
  const openSink = () => {
    const previous = sink?.close();
    sink = new ExportFileSink({
      fs,
      hash: crypto.createHash('sha256'),
      path: partPath,
      previous,
      onProgress,
    });
    return sink;
  };
  const finish = async (answer: Answer): Promise<ExportedFile> => {
    const { bytes, scanned, sha256 } = await (sink as ExportFileSink).finish();
    const verified = checkExport(scanned, sha256, answer);
    await fs.rename(partPath, path);
    const { eventCount } = scanned;
    const contentSha256 = eventCount === undefined ? undefined : sha256;
    return { path, bytes, eventCount, contentSha256, verified };
  };
  try {
    const { data } = await caller.run('sessions.export', { id, options }, finish, openSink);
    return data;
  } catch (error) {
    await sink?.close();
    await fs.rm(partPath, { force: true }).catch(() => {}); // what went wrong before is what counts
    throw error;
  }
}
