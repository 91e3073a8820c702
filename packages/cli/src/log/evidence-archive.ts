import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import type { Readable } from 'node:stream';
import type { EvidenceRecord, EvidenceReport, RecordToVerify, TrustPolicy } from '@actlog/log';
import { type AuditFieldChange, parseExactJson } from '@actlog/protocol';
import type { Entry, ZipFile } from 'yauzl';
import * as z from 'zod';

/** Name and version of the format of archives with evidence. */
export const archiveFormat = 'actlog evidence 1';

/** Files of an archive, besides `manifest.json`. An archive with any other is refused. */
export const archiveFiles = [
  'checkpoint.txt',
  'events.jsonl',
  'decisions.jsonl',
  'approvals.jsonl',
  'audit.jsonl',
  'deletions.jsonl',
  'boundaries.jsonl',
  'supporting.jsonl',
  'policies.jsonl',
  'legal-holds.jsonl',
  'retention.jsonl',
] as const;

/** Name of a file of an archive. */
export type ArchiveFile = (typeof archiveFiles)[number];

/** Files with records and their receipts, in the order of the verification. */
const recordFiles = [
  'boundaries.jsonl',
  'events.jsonl',
  'decisions.jsonl',
  'approvals.jsonl',
  'audit.jsonl',
  'deletions.jsonl',
  'supporting.jsonl',
] as const satisfies readonly ArchiveFile[];

const wholeNumber = z.int().min(-1);

const manifestSchema = z.strictObject({
  format: z.literal(archiveFormat),
  tool: z.string(),
  createdAt: z.iso.datetime(),
  service: z.strictObject({
    baseURL: z.string(),
    tenant: z.string(),
    origin: z.string(),
    /** Verifier keys as the service had them. Trust needs a key from elsewhere. */
    keys: z.array(z.string()),
  }),
  period: z.strictObject({
    since: z.iso.datetime(),
    until: z.iso.datetime(),
    agentId: z.string().nullable(),
    sessionId: z.string().nullable(),
    /** First and last entry of the log. */
    first: wholeNumber,
    last: wholeNumber,
  }),
  counts: z.record(z.string(), wholeNumber),
  files: z.array(
    z.strictObject({
      name: z.enum(archiveFiles),
      bytes: wholeNumber,
      lines: wholeNumber,
      sha256: z.string(),
    }),
  ),
});

/** Manifest of an archive: what it is about, and its files. */
export type Manifest = z.infer<typeof manifestSchema>;

/** Maximum bytes of the manifest and the checkpoint, and of a line of the other files. */
const maxSmallBytes = 1_000_000;
const maxLineBytes = 32_000_000;

/** Maximum ratio of a file to its compressed size. That of receipts is about 10. */
const maxRatio = 500;

/** A problem of an archive, besides those that its log shows. */
export interface ArchiveFinding {
  readonly code: 'archive-damaged' | 'archive-refused' | 'archive-changed' | 'policy-changed';
  readonly message: string;
}

/** Result of {@link verifyArchive}. */
export interface ArchiveReport {
  /** `undefined` if the archive was refused. */
  readonly manifest: Manifest | undefined;
  readonly evidence: EvidenceReport | undefined;
  readonly findings: readonly ArchiveFinding[];
  /** Policies in force, and how many of them a change in the audit log proves. */
  readonly policies: { readonly all: number; readonly proven: number };
}

/** `true` if a file is an archive with evidence, and not lines of JSON. */
export function isArchive(path: string): boolean {
  const file = openSync(path, 'r');
  try {
    const start = Buffer.alloc(2);
    return readSync(file, start) === 2 && start.toString('latin1') === 'PK';
  } finally {
    closeSync(file);
  }
}

class RefusedArchive extends Error {
  readonly code: ArchiveFinding['code'];

  constructor(code: ArchiveFinding['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/**
 * Verifies an archive with evidence offline, in memory that does not depend on its size.
 *
 * @param watch - passes the records on, and may look at them
 */
export async function verifyArchive(
  path: string,
  policy: TrustPolicy,
  watch: (records: AsyncIterable<RecordToVerify>) => AsyncIterable<RecordToVerify>,
): Promise<ArchiveReport> {
  const findings: ArchiveFinding[] = [];
  try {
    return await verifyOpened(await OpenArchive.open(path), policy, watch, findings);
  } catch (error) {
    if (!(error instanceof RefusedArchive)) throw error;
    findings.push({ code: error.code, message: error.message });
    return { manifest: undefined, evidence: undefined, findings, policies: { all: 0, proven: 0 } };
  }
}

async function verifyOpened(
  archive: OpenArchive,
  policy: TrustPolicy,
  watch: (records: AsyncIterable<RecordToVerify>) => AsyncIterable<RecordToVerify>,
  findings: ArchiveFinding[],
): Promise<ArchiveReport> {
  try {
    const manifest = parsedManifest(await archive.text('manifest.json'));
    const described = new Map(manifest.files.map((file) => [file.name, file]));
    for (const name of archiveFiles) {
      if (described.has(name) && archive.has(name)) continue;
      throw new RefusedArchive('archive-damaged', `The archive lacks "${name}".`);
    }
    if (described.size !== manifest.files.length) {
      throw new RefusedArchive('archive-refused', 'The manifest describes a file twice.');
    }
    const check = (name: ArchiveFile, content: FileContent) => {
      const expected = described.get(name);
      const { bytes, lines, sha256 } = content;
      if (bytes === expected?.bytes && lines === expected.lines && sha256 === expected.sha256) return;
      findings.push({
        code: 'archive-changed',
        message: `"${name}" is not the file that the manifest describes.`,
      });
    };
    const checkpoint = await archive.text('checkpoint.txt', (content) => check('checkpoint.txt', content));
    const hashes = new PolicyHashes();
    async function* records(): AsyncGenerator<EvidenceRecord> {
      for (const name of recordFiles) {
        for await (const line of archive.lines(name, (content) => check(name, content))) {
          const record = parsedLine(name, line) as unknown as EvidenceRecord;
          if (record.kind === 'audit') hashes.add(record.row);
          yield record;
        }
      }
    }
    const { since, until, first, last, agentId, sessionId } = manifest.period;
    const { verifyEvidence } = await import('@actlog/log');
    const evidence = await verifyEvidence(
      {
        checkpoint,
        period: {
          sinceMs: Date.parse(since),
          untilMs: Date.parse(until),
          first,
          last,
          isFiltered: agentId !== null || sessionId !== null,
        },
        records: watch(records()) as AsyncIterable<EvidenceRecord>,
      },
      { policy },
    );
    const policies = { all: 0, proven: 0 };
    const { canonicalJson } = await import('@actlog/log');
    for await (const line of archive.lines('policies.jsonl', (content) => check('policies.jsonl', content))) {
      const { id, version, definition } = parsedLine('policies.jsonl', line);
      policies.all += 1;
      const logged = hashes.of(String(id), Number(version));
      if (logged === undefined) continue;
      if (createHash('sha256').update(canonicalJson(definition)).digest('hex') === logged)
        policies.proven += 1;
      else {
        findings.push({
          code: 'policy-changed',
          message: `Version ${version} of the policy ${id} is not the one that the log has.`,
        });
      }
    }
    for (const name of ['legal-holds.jsonl', 'retention.jsonl'] as const) {
      for await (const line of archive.lines(name, (content) => check(name, content))) parsedLine(name, line);
    }
    if (evidence.origin !== undefined && evidence.origin !== manifest.service.origin) {
      findings.push({
        code: 'archive-changed',
        message: `The manifest names the log ${manifest.service.origin}, but the checkpoint is of ${evidence.origin}.`,
      });
    }
    return { manifest, evidence, findings, policies };
  } finally {
    archive.close();
  }
}

/** Hashes of the definitions of policies, as changes in the audit log have them. */
class PolicyHashes {
  readonly #hashes = new Map<string, string>();

  add(row: unknown): void {
    const { target, changes } = (row ?? {}) as {
      readonly target?: { id?: unknown };
      readonly changes?: unknown;
    };
    if (!Array.isArray(changes)) return;
    const after = (field: string) =>
      (changes as AuditFieldChange[]).find((change) => change?.field === field)?.after;
    const hash = after('definitionSha256');
    if (typeof hash === 'string') this.#hashes.set(`${target?.id} ${after('version')}`, hash);
  }

  of(id: string, version: number): string | undefined {
    return this.#hashes.get(`${id} ${version}`);
  }
}

function parsedManifest(text: string): Manifest {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RefusedArchive('archive-damaged', '"manifest.json" is not JSON; the archive was changed.');
  }
  const { data, error } = manifestSchema.safeParse(value);
  if (data) return data;
  const [issue] = error.issues;
  throw new RefusedArchive(
    'archive-damaged',
    `"manifest.json" has no valid "${issue?.path.join('.')}"; the archive was changed, or made by another version.`,
  );
}

function parsedLine(name: ArchiveFile, line: string): Record<string, unknown> {
  try {
    const value = parseExactJson(line);
    if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  } catch {
    // The error is the same for other values.
  }
  throw new RefusedArchive(
    'archive-damaged',
    `A line of "${name}" is not a JSON object; the file was changed.`,
  );
}

/** Size, number of lines and hash of a file that was read. */
interface FileContent {
  readonly bytes: number;
  readonly lines: number;
  readonly sha256: string;
}

/** A ZIP file whose members were checked: known names, each once, not encrypted, and not compressed beyond measure. */
class OpenArchive {
  readonly #zip: ZipFile;
  readonly #entries: ReadonlyMap<string, Entry>;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>) {
    this.#zip = zip;
    this.#entries = entries;
  }

  /** @throws RefusedArchive */
  static async open(path: string): Promise<OpenArchive> {
    const yauzl = await import('yauzl');
    const zip = await new Promise<ZipFile>((resolve, reject) => {
      yauzl.open(path, { lazyEntries: true, autoClose: false, strictFileNames: true }, (error, opened) =>
        error ? reject(damaged(error)) : resolve(opened),
      );
    });
    try {
      return new OpenArchive(zip, await checkedEntries(zip));
    } catch (error) {
      zip.close();
      throw error;
    }
  }

  has(name: string): boolean {
    return this.#entries.has(name);
  }

  close(): void {
    this.#zip.close();
  }

  /** Returns a small file as text. @throws RefusedArchive */
  async text(name: ArchiveFile | 'manifest.json', onRead?: (content: FileContent) => void): Promise<string> {
    const chunks: Buffer[] = [];
    let bytes = 0;
    for await (const chunk of await this.#open(name)) {
      bytes += chunk.length;
      if (bytes > maxSmallBytes) {
        throw new RefusedArchive('archive-refused', `"${name}" has more than ${maxSmallBytes} bytes.`);
      }
      chunks.push(chunk);
    }
    const content = Buffer.concat(chunks);
    onRead?.({ bytes, lines: 1, sha256: createHash('sha256').update(content).digest('hex') });
    return content.toString('utf8');
  }

  /** Yields the lines of a file. @throws RefusedArchive */
  async *lines(name: ArchiveFile, onRead: (content: FileContent) => void): AsyncGenerator<string> {
    const hash = createHash('sha256');
    let rest: Buffer[] = [];
    let restBytes = 0;
    let bytes = 0;
    let lines = 0;
    for await (const chunk of await this.#open(name)) {
      hash.update(chunk);
      bytes += chunk.length;
      let from = 0;
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
        yield Buffer.concat([...rest, chunk.subarray(from, end)]).toString('utf8');
        lines += 1;
        rest = [];
        restBytes = 0;
        from = end + 1;
      }
      if (from < chunk.length) {
        rest.push(chunk.subarray(from));
        restBytes += chunk.length - from;
      }
      if (restBytes > maxLineBytes) {
        throw new RefusedArchive(
          'archive-refused',
          `A line of "${name}" has more than ${maxLineBytes} bytes.`,
        );
      }
    }
    if (rest.length > 0) {
      throw new RefusedArchive('archive-damaged', `The last line of "${name}" has no end; the file was cut.`);
    }
    onRead({ bytes, lines, sha256: hash.digest('hex') });
  }

  /** Opens a file. Errors of the stream refuse the archive. */
  async #open(name: string): Promise<AsyncIterable<Buffer>> {
    const entry = this.#entries.get(name);
    if (!entry) throw new RefusedArchive('archive-damaged', `The archive lacks "${name}".`);
    const stream = await new Promise<Readable>((resolve, reject) => {
      this.#zip.openReadStream(entry, (error, opened) => (error ? reject(damaged(error)) : resolve(opened)));
    });
    return chunksOf(stream);
  }
}

async function* chunksOf(stream: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of stream) yield chunk as Buffer;
  } catch (error) {
    throw damaged(error as Error);
  }
}

function damaged({ message }: Error): RefusedArchive {
  return new RefusedArchive(
    'archive-damaged',
    `The archive cannot be read; it was cut or changed: ${message.replace(/\.$/, '')}.`,
  );
}

/** Returns the members of an archive by name. */
async function checkedEntries(zip: ZipFile): Promise<Map<string, Entry>> {
  const known = new Set<string>(['manifest.json', ...archiveFiles]);
  const entries = new Map<string, Entry>();
  const refuse = (message: string) => new RefusedArchive('archive-refused', message);
  if (zip.entryCount > known.size) {
    throw refuse(`The archive has ${zip.entryCount} members, and evidence has ${known.size}.`);
  }
  return new Promise((resolve, reject) => {
    zip.on('error', (error: Error) => reject(refuse(`The archive is refused: ${error.message}.`)));
    zip.on('end', () => resolve(entries));
    zip.on('entry', (entry: Entry) => {
      const { fileName: name, uncompressedSize, compressedSize } = entry;
      if (!known.has(name))
        return reject(refuse(`The archive has the member ${JSON.stringify(name)}, which evidence has not.`));
      if (entries.has(name)) return reject(refuse(`The archive has the member "${name}" twice.`));
      if (entry.isEncrypted()) return reject(refuse(`The member "${name}" is encrypted.`));
      if (uncompressedSize > maxSmallBytes && uncompressedSize > compressedSize * maxRatio) {
        return reject(
          refuse(
            `The member "${name}" is ${uncompressedSize} bytes from ${compressedSize}, as in a ZIP bomb.`,
          ),
        );
      }
      entries.set(name, entry);
      zip.readEntry();
      return undefined;
    });
    zip.readEntry();
  });
}
