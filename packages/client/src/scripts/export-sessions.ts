import type { FileHandle } from 'node:fs/promises';
import type { Actlog } from '../actlog.ts';
import { InvalidArgumentError, invalidValue } from '../errors/actlog-error.ts';
import { builtinModule } from '../platform.ts';
import { idOf } from '../records/id-of.ts';
import type { RequestOptions } from '../request/request-options.ts';
import type { SessionFilters } from '../resources/sessions.ts';
import { mapConcurrent } from './map-concurrent.ts';

/** Options of `exportSessions`. Request options apply to each request. */
export interface ExportSessionsOptions extends RequestOptions {
  /** Filters of the sessions, as in `client.sessions.list`. Default: all sessions. */
  readonly query?: SessionFilters | undefined;
  /** Number of sessions that are downloaded at the same time. Default 4. */
  readonly concurrency?: number | undefined;
  /** Called after every session that is in the file. */
  readonly onProgress?: ((progress: ExportSessionsProgress) => void) | undefined;
  /** Name of the array that contains the sessions of a page; see `ListOptions`. */
  readonly itemsKey?: string | undefined;
  /** Name of the field with the id of a session, if the service has one that `idOf` does not recognize. */
  readonly idKey?: string | undefined;
}

/** Progress of `exportSessions`. */
export interface ExportSessionsProgress {
  /** Session that was added. */
  readonly sessionId: string;
  /** Number of sessions in the file, including earlier runs. */
  readonly sessions: number;
  /** Size of the file, in bytes. */
  readonly bytes: number;
}

/** A finished export of sessions. */
export interface ExportedSessions {
  readonly path: string;
  /** Number of sessions in the file: one on each line. */
  readonly sessions: number;
  /** Number of those that an interrupted run had exported before. */
  readonly resumed: number;
  /** Number of sessions that were deleted between their listing and their export. */
  readonly missing: number;
  /** Size of the file, in bytes. */
  readonly bytes: number;
}

/**
 * Exports many sessions to a file of JSON Lines: each line is the document of `GET /v1/sessions/:id/export.json`,
 * verified as by `client.sessions.exportToFile`. Memory is constant for documents of any size.
 *
 * The file gets its name when it is complete. Until then, its parts are in the folder `<path>.partial`. If a run is
 * interrupted, by an error, a signal or the end of the process, call it again with the same path and filters: it
 * continues, and every session is in the file once, as it was when it was exported. Documents that have arrived when
 * the signal is aborted are still added. Only one process may write to a
 * path. Needs Node, Bun or Deno.
 *
 * @throws InvalidArgumentError When the path is taken, or an interrupted export of another deployment or with other
 * filters is at this path.
 * @throws ActlogError When a request fails after its retries. Call again to continue.
 *
 * @example
 * ```ts
 * const { sessions, resumed } = await exportSessions(client, 'sessions.jsonl', {
 *   query: { startedAfter: '2026-01-01T00:00:00Z' },
 *   onProgress: ({ sessions, bytes }) => console.log(sessions, bytes),
 * });
 * ```
 */
export async function exportSessions(
  client: Actlog,
  path: string,
  options: ExportSessionsOptions = {},
): Promise<ExportedSessions> {
  if (typeof path !== 'string' || path === '') {
    throw invalidValue('path', 'a file path (convert a URL with fileURLToPath)', path);
  }
  const { query = {}, concurrency = 4, onProgress, itemsKey, idKey, ...requestOptions } = options;
  const partial = await PartialExport.open(path, { baseURL: client.baseURL, ...filtersOf(query) });
  const resumed = partial.sessions;
  let missing = 0;
  try {
    const listed = client.sessions
      .list({ limit: 200, ...query }, { ...requestOptions, itemsKey })
      .map((session) => idOf(session, idKey))
      .filter((id) => partial.claim(id));
    const downloads = mapConcurrent(
      listed,
      async (id, { index, signal }) => {
        const part = partial.partPath(index);
        const either = requestOptions.signal ? AbortSignal.any([requestOptions.signal, signal]) : signal;
        const found = client.sessions.exportToFile(id, part, { ...requestOptions, signal: either });
        return { id, part: (await unlessDeleted(found))?.path };
      },
      { concurrency },
    );
    for await (const { id, part } of downloads) {
      if (part === undefined) {
        missing += 1;
        continue;
      }
      await partial.append(id, part);
      onProgress?.({ sessionId: id, sessions: partial.sessions, bytes: partial.bytes });
    }
    await partial.finish();
  } catch (error) {
    await partial.close();
    throw error;
  }
  return { path, sessions: partial.sessions, resumed, missing, bytes: partial.bytes };
}

/** Resolves to undefined for a session that does not exist any more, such as one that retention deleted. */
async function unlessDeleted<Data>(found: Promise<Data>): Promise<Data | undefined> {
  try {
    return await found;
  } catch (error) {
    if ((error as { status?: unknown } | null)?.status === 404) return undefined;
    throw error;
  }
}

/**
 * Returns the filters that tell one export from another. Times are left out, because a script computes them anew on
 * every run.
 */
function filtersOf(query: SessionFilters): Record<string, unknown> {
  const { limit: _limit, cursor: _cursor, startedAfter: _after, startedBefore: _before, ...filters } = query;
  return filters;
}

/** One line of the journal: a session that is completely in the file. */
interface Entry {
  readonly id: string;
  /** Size of the file with this session, in bytes. */
  readonly bytes: number;
}

type FileSystem = typeof import('node:fs/promises');

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;

/**
 * A file of JSON Lines that is being written. Next to it is a journal of the sessions that it contains, with the size
 * of the file after each. What a crash left behind the last entry is cut off, and exported again.
 */
class PartialExport {
  readonly #fs: FileSystem;
  readonly #path: string;
  readonly #folder: string;
  readonly #lines: FileHandle;
  readonly #journal: FileHandle;
  /** Sessions that are in the file, or on their way. */
  readonly #claimed: Set<string>;
  #sessions: number;
  #bytes: number;

  private constructor(
    fs: FileSystem,
    path: string,
    { lines, journal }: { readonly lines: FileHandle; readonly journal: FileHandle },
    entries: readonly Entry[],
  ) {
    this.#fs = fs;
    this.#path = path;
    this.#folder = folderOf(path);
    this.#lines = lines;
    this.#journal = journal;
    this.#claimed = new Set(entries.map(({ id }) => id));
    this.#sessions = entries.length;
    this.#bytes = entries.at(-1)?.bytes ?? 0;
  }

  /**
   * Starts an export, or continues an interrupted one.
   *
   * @param subject Deployment and filters, which must match the interrupted export.
   */
  static async open(path: string, subject: Readonly<Record<string, unknown>>): Promise<PartialExport> {
    const fs = builtinModule('node:fs/promises');
    if (fs === undefined) {
      throw new InvalidArgumentError(
        'exportSessions needs Node, Bun or Deno: use `client.sessions.exportToBlob` on platforms without files.',
      );
    }
    if (await exists(fs, path)) {
      throw new InvalidArgumentError(`path ${path} exists: delete the file, or choose another path.`);
    }
    const folder = folderOf(path);
    await fs.mkdir(folder, { recursive: true, mode: 0o700 });
    await removeParts(fs, folder);
    const head = `${JSON.stringify({ subject: sorted(subject) })}\n`;
    const written = await fs.readFile(`${folder}/journal`, 'utf8').catch(() => '');
    if (written.includes('\n') && !written.startsWith(head)) {
      throw new InvalidArgumentError(
        `path ${path} has an interrupted export of another deployment or with other filters: continue with those, or delete ${folder}.`,
      );
    }
    const lines = await fs.open(`${folder}/lines`, 'a+', 0o600);
    const { size } = await lines.stat();
    const entries = entriesOf(written.slice(head.length)).filter(({ bytes }) => bytes <= size);
    await lines.truncate(entries.at(-1)?.bytes ?? 0);
    // Written anew, because its last line may be incomplete.
    const rewritten = `${folder}/journal.new`;
    await fs.writeFile(rewritten, head + entries.map(lineOf).join(''), { mode: 0o600, flush: true });
    await fs.rename(rewritten, `${folder}/journal`);
    const journal = await fs.open(`${folder}/journal`, 'a', 0o600);
    return new PartialExport(fs, path, { lines, journal }, entries);
  }

  /** Number of sessions in the file. */
  get sessions(): number {
    return this.#sessions;
  }

  /** Size of the file, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Returns `true` the first time that a session is claimed, if it is not in the file yet. */
  claim(id: string): boolean {
    const isNew = !this.#claimed.has(id);
    this.#claimed.add(id);
    return isNew;
  }

  /** Returns the path for the document of a session, until it is appended. */
  partPath(index: number): string {
    return `${this.#folder}/${index}.part`;
  }

  /** Appends a document as one line, and removes its file. */
  async append(id: string, part: string): Promise<void> {
    const source = await this.#fs.open(part, 'r');
    try {
      for await (const chunk of source.createReadStream({ autoClose: false })) {
        const line = onOneLine(chunk as Uint8Array);
        await this.#lines.appendFile(line);
        this.#bytes += line.length;
      }
    } finally {
      await source.close();
    }
    await this.#lines.appendFile('\n');
    this.#bytes += 1;
    // The journal must never name a session that a power cut has taken from the file.
    await this.#lines.datasync();
    await this.#journal.appendFile(lineOf({ id, bytes: this.#bytes }));
    this.#sessions += 1;
    await this.#fs.rm(part, { force: true });
  }

  /** Gives the file its name. */
  async finish(): Promise<void> {
    await this.#lines.sync();
    await this.close();
    await this.#fs.rename(`${this.#folder}/lines`, this.#path);
    await this.#fs.rm(this.#folder, { recursive: true, force: true });
  }

  /** Closes the files, so that a later run can continue. */
  async close(): Promise<void> {
    await this.#lines.close().catch(() => {});
    await this.#journal.close().catch(() => {});
    await removeParts(this.#fs, this.#folder).catch(() => {}); // a later run removes them too
  }
}

function folderOf(path: string): string {
  return `${path}.partial`;
}

async function exists(fs: FileSystem, path: string): Promise<boolean> {
  try {
    await fs.lstat(path);
    return true;
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return false;
    throw error;
  }
}

/** Removes documents that were not appended. */
async function removeParts(fs: FileSystem, folder: string): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    if (name.endsWith('.part')) await fs.rm(`${folder}/${name}`, { force: true });
  }
}

function lineOf(entry: Entry): string {
  return `${JSON.stringify(entry)}\n`;
}

/** Returns the entries of a journal up to its last complete line, or to one that a power cut has damaged. */
function entriesOf(text: string): Entry[] {
  const entries: Entry[] = [];
  const lines = text.split('\n').slice(0, -1);
  try {
    for (const line of lines) entries.push(JSON.parse(line));
  } catch {
    // The sessions of the other lines are exported again.
  }
  return entries;
}

/** Replaces line breaks with spaces: outside of its strings, which contain none, JSON allows either. */
function onOneLine(chunk: Uint8Array): Uint8Array {
  if (!chunk.includes(newline) && !chunk.includes(carriageReturn)) return chunk;
  return chunk.map((byte) => (byte === newline || byte === carriageReturn ? space : byte));
}

function sorted(subject: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const defined = Object.entries(subject).filter(([, value]) => value !== undefined);
  return Object.fromEntries(defined.sort(([left], [right]) => (left < right ? -1 : 1)));
}
