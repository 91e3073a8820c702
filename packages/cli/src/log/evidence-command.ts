import { createHash, type Hash } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, existsSync, type WriteStream } from 'node:fs';
import { mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { finished, pipeline } from 'node:stream/promises';
import type { EvidenceLine } from '@actlog/client/server';
import { stringifyExactJson } from '@actlog/protocol';
import { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { ExitCodeError, UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { parseTime } from '../options/duration.ts';
import { print } from '../output/print.ts';
import { untilInterrupted } from '../terminal/confirm.ts';
import { version } from '../version.ts';
import { type ArchiveFile, archiveFiles, archiveFormat, type Manifest } from './evidence-archive.ts';

interface Flags extends ConnectionFlags {
  readonly since: Date;
  readonly until: Date;
  readonly agent?: string;
  readonly session?: string;
  readonly out: string;
}

/** Creates the command `evidence`. */
export function evidenceCommand(): Command {
  const command = new Command('evidence').description(
    'Makes one archive that proves a period to an auditor: all records with receipts, the signed checkpoint, and the policies, legal holds and retention that were in force. `actlog log verify FILE` verifies it offline.',
  );
  addConnectionOptions(command);
  addExamples(command, [
    [
      'actlog evidence --since 2026-11-01 --until 2026-12-01 --out november.zip',
      'a month, which is proven to be complete',
    ],
    [
      'actlog evidence --since 90d --until now --agent billing --out billing.zip',
      'the records about one agent; nothing proves that there are no others',
    ],
  ]);
  return command
    .requiredOption('--since <time>', 'begin of the period: 2026-11-01, an ISO 8601 time, or 30d', parseTime)
    .requiredOption('--until <time>', 'end of the period, which is not part of it, or now', parseUntil)
    .requiredOption('--out <file>', 'archive to write, such as november.zip')
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only records about this agent')
    .option('--session <id>', 'only records of this session')
    .action(async (flags: Flags) => {
      if (flags.since >= flags.until) {
        throw new UsageError('--until must be after --since: the period would be empty.');
      }
      if (existsSync(flags.out)) {
        throw new UsageError(`The file "${flags.out}" of --out exists; choose another name, or remove it.`);
      }
      const client = await connect(flags);
      const { readEvidence } = await import('@actlog/client/server');
      await untilInterrupted(async ({ signal }) => {
        const range = {
          since: flags.since,
          until: flags.until,
          agentId: flags.agent,
          sessionId: flags.session,
        };
        const manifest = await writeArchive(flags, client.baseURL, readEvidence(client, range, { signal }));
        const { counts } = manifest;
        await print(
          `${flags.out}: ${Object.entries(counts)
            .map(([name, count]) => `${count} ${name}`)
            .join(', ')}. Verify it with: actlog log verify ${flags.out} --key KEY`,
        );
      });
    });
}

/** Parses the end of a period. */
function parseUntil(text: string): Date {
  return text === 'now' ? new Date() : parseTime(text);
}

/** A file of the archive while it is collected on disk, because its size is known only at its end. */
class CollectedFile {
  readonly name: ArchiveFile;
  readonly path: string;
  readonly #stream: WriteStream;
  readonly #hash: Hash = createHash('sha256');
  #bytes = 0;
  #lines = 0;

  constructor(name: ArchiveFile, folder: string) {
    this.name = name;
    this.path = join(folder, name);
    this.#stream = createWriteStream(this.path, { flags: 'wx', mode: 0o600 });
  }

  async write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    this.#hash.update(bytes);
    this.#bytes += bytes.length;
    this.#lines += 1;
    if (!this.#stream.write(bytes)) await once(this.#stream, 'drain');
  }

  async end(): Promise<Manifest['files'][number]> {
    this.#stream.end();
    await finished(this.#stream);
    return { name: this.name, bytes: this.#bytes, lines: this.#lines, sha256: this.#hash.digest('hex') };
  }
}

/** Returns the file that a line belongs to. */
function fileOf({ type, part, kind }: EvidenceLine): ArchiveFile | undefined {
  switch (type) {
    case 'record':
      if (part === 'period') return archiveFiles.find((name) => name === `${kind}s.jsonl`) ?? 'audit.jsonl';
      return part === 'support' ? 'supporting.jsonl' : 'boundaries.jsonl';
    case 'policy':
      return 'policies.jsonl';
    case 'legalHold':
      return 'legal-holds.jsonl';
    case 'retention':
      return 'retention.jsonl';
    default:
      return undefined;
  }
}

/** Writes the archive, in memory that does not depend on its size. */
async function writeArchive(
  { since, until, agent, session, out }: Flags,
  baseURL: string,
  lines: AsyncIterable<EvidenceLine>,
): Promise<Manifest> {
  const folder = await mkdtemp(join(dirname(out), '.actlog-evidence-')).catch((cause: Error) => {
    throw new UsageError(`The folder of --out cannot be written: ${cause.message}.`, { cause });
  });
  try {
    const files = new Map(archiveFiles.map((name) => [name, new CollectedFile(name, folder)]));
    let head: EvidenceLine | undefined;
    for await (const line of lines) {
      if (line.type === 'head') head = line;
      const { type: _, ...content } = line;
      const name = fileOf(line);
      if (name) await files.get(name)?.write(`${stringifyExactJson(content)}\n`);
    }
    if (!head) {
      throw new ExitCodeError('The service sent no checkpoint; is it an actlog server?', exitCodes.failed);
    }
    await files.get('checkpoint.txt')?.write(head.checkpoint as string);
    const described: Manifest['files'][number][] = [];
    for (const file of files.values()) described.push(await file.end());
    const countOf = (name: ArchiveFile) => described.find((file) => file.name === name)?.lines ?? 0;
    const manifest: Manifest = {
      format: archiveFormat,
      tool: `actlog ${version}`,
      createdAt: new Date().toISOString(),
      service: {
        baseURL,
        tenant: head.tenant as string,
        origin: head.origin as string,
        keys: head.keys as string[],
      },
      period: {
        since: since.toISOString(),
        until: until.toISOString(),
        agentId: agent ?? null,
        sessionId: session ?? null,
        first: head.first as number,
        last: head.last as number,
      },
      counts: {
        events: countOf('events.jsonl'),
        decisions: countOf('decisions.jsonl'),
        approvals: countOf('approvals.jsonl'),
        'audit entries': countOf('audit.jsonl'),
        deletions: countOf('deletions.jsonl'),
        policies: countOf('policies.jsonl'),
        'legal holds': countOf('legal-holds.jsonl'),
      },
      files: described,
    };
    const { ZipFile } = await import('yazl');
    const zip = new ZipFile();
    zip.addBuffer(Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`), 'manifest.json');
    for (const { name, path } of files.values()) zip.addFile(path, name);
    zip.end();
    const partial = join(folder, 'archive.zip');
    await pipeline(zip.outputStream, createWriteStream(partial, { flags: 'wx' }));
    await rename(partial, out);
    return manifest;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
