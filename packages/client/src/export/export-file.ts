import type { Hash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import type { ResponseOf } from '@actlog/protocol';
import { ExportIntegrityError, InvalidArgumentError, invalidValue } from '../errors/actlog-error.ts';
import { builtinModule } from '../platform.ts';
import type { RecordId } from '../records/id-of.ts';
import type { EndpointCaller } from '../request/endpoint-caller.ts';
import type { RequestOptions } from '../request/request-options.ts';
import type { ApiResponse, BodySink } from '../response/api-response.ts';
import { NonRetryableError } from '../retry/retry-after.ts';
import { ExportScanner, type ScannedExport } from './export-scanner.ts';

/** Options of an export to a file. */
export interface ExportToFileOptions extends RequestOptions {
  /**
   * Maximum time between two chunks of the document, in milliseconds. The whole download may take longer, up to
   * `deadlineMs`.
   */
  readonly timeoutMs?: number | undefined;
  /** Called after every chunk. Counts from 0 again when the download is retried. */
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined;
}

/** An exported session on disk. */
export interface ExportedFile {
  readonly path: string;
  readonly bytes: number;
  /** Number of events; undefined if the document has no array named `events`. */
  readonly eventCount: number | undefined;
  /** SHA-256 of the bytes of the `events` array, in hex; undefined if there is no such array. */
  readonly contentSha256: string | undefined;
  /**
   * `true` if the document had a `contentSha256` and it matched; `false` if it had none, so that nothing was verified.
   */
  readonly verified: boolean;
}

/**
 * Number of characters of the file name that the temporary name repeats. A character may take three of a name's 255
 * bytes.
 */
const maxNamePrefix = 60;

/** Downloads an exported session; see `Sessions.exportToFile`. */
export async function exportToFile(
  caller: EndpointCaller,
  id: RecordId,
  path: string,
  options: ExportToFileOptions,
): Promise<ExportedFile> {
  if (typeof path !== 'string' || path === '') {
    throw invalidValue('path', 'a file path (convert a URL with fileURLToPath)', path);
  }
  const fs = builtinModule('node:fs/promises');
  const crypto = builtinModule('node:crypto');
  if (fs === undefined || crypto === undefined) {
    throw new InvalidArgumentError(
      'exportToFile needs Node, Bun or Deno: use `exportToBlob` on platforms without files.',
    );
  }
  const cut = Math.max(path.lastIndexOf('/'), path.lastIndexOf('\\')) + 1;
  // Use only the start of a long name: with the suffix, the full name could exceed the limit of the file system.
  const name = path.slice(cut, cut + maxNamePrefix);
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
  const finish = async (response: ApiResponse): Promise<ExportedFile> => {
    const { bytes, scanned, sha256 } = await (sink as ExportFileSink).finish();
    const verified = checkExport(scanned, sha256, response);
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
    await fs.rm(partPath, { force: true }).catch(() => {}); // the original error matters
    throw error;
  }
}

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
class ExportFileSink implements BodySink {
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

/** Reads an exported session that is in memory, and checks it against its hash and count. */
export async function readExport(response: ApiResponse): Promise<ResponseOf<'sessions.export'>> {
  const document = response.jsonObject();
  const { contentSha256, eventCount } = document;
  if ((contentSha256 ?? eventCount ?? undefined) === undefined) return document;
  if (!crypto.subtle) {
    throw new InvalidArgumentError(
      'export needs crypto.subtle to verify the events, which browsers provide only on https pages: use `exportToBlob`.',
    );
  }
  const parts: Uint8Array[] = [];
  const scanner = new ExportScanner((bytes) => parts.push(bytes));
  scanner.feed(response.body?.bytes() ?? new Uint8Array());
  checkExport(scanner.end(), await sha256Hex(parts), response);
  return document;
}

/**
 * Compares what a document declares with what the scanner found.
 *
 * @param sha256 Undefined if the events were not hashed.
 * @returns `true` if the document has a hash and it matches.
 * @throws ExportIntegrityError When they differ, or the document is incomplete.
 */
export function checkExport(
  found: ScannedExport,
  sha256: string | undefined,
  response: ApiResponse,
): boolean {
  const { whole, eventCount, declaredEventCount, declaredSha256 } = found;
  const { method, path } = response.request;
  const fail = (problem: string) =>
    new ExportIntegrityError(`${method} ${path}: ${problem}. Export the session again.`, response.context());
  if (!whole) throw fail('the document is not one complete JSON object, or has two `events` arrays');
  if (eventCount === undefined && declaredSha256 !== undefined) {
    throw fail('the document has a contentSha256 but no `events` array to verify');
  }
  if (eventCount !== undefined && declaredEventCount !== undefined && declaredEventCount !== eventCount) {
    throw fail(`the document declares ${declaredEventCount} events but contains ${eventCount}`);
  }
  if (declaredSha256 === undefined || sha256 === undefined) return false;
  if (declaredSha256.toLowerCase() !== sha256) {
    throw fail('the events do not match the contentSha256 of the document');
  }
  return true;
}

async function sha256Hex(parts: readonly Uint8Array[]): Promise<string> {
  const bytes = await new Blob(parts as Uint8Array<ArrayBuffer>[]).arrayBuffer();
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Progress of an export. */
export interface ExportProgress {
  /** Bytes received in the current attempt. */
  readonly bytes: number;
  /** Events received in the current attempt. */
  readonly events: number;
}
