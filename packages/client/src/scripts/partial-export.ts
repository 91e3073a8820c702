import type { FileHandle } from 'node:fs/promises';
import { InvalidArgumentError } from '../errors/actlog-error.ts';
import { builtinModule } from '../platform.ts';

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
export class PartialExport {
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
