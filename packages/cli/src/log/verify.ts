import { createReadStream, readFileSync, statSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type {
  EarlierLog,
  LogReport,
  LogSource,
  RecordToVerify,
  SealReport,
  SessionSeal,
  TrustPolicy,
} from '@actlog/log';
import { parseExactJson, sessionSealCategory } from '@actlog/protocol';
import type { Command } from 'commander';
import { addExamples } from '../command/client-command.ts';
import { addConnectionOptions, type ConnectionFlags, connect } from '../connection/connect.ts';
import { ExitCodeError, UsageError } from '../errors/usage-error.ts';
import { exitCodes } from '../exit-codes.ts';
import { localTime } from '../output/local-time.ts';
import { print } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { type ArchiveReport, isArchive, verifyArchive } from './evidence-archive.ts';

interface Flags extends ConnectionFlags {
  readonly key?: readonly string[];
  readonly policy?: string;
  readonly earlier?: readonly string[];
  readonly records?: string;
  readonly complete?: true;
  readonly seals?: true;
  readonly tenant: string;
  readonly save?: string;
  readonly json?: true;
}

const list = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

/** Adds `log verify`. */
export function addVerify(parent: Command): void {
  const command = parent
    .command('verify')
    .argument(
      '[source]',
      'archive of `actlog evidence`, file of `actlog feed --receipts`, folder with tiles, or URL of a log',
    )
    .description(
      'Verifies evidence, an export, a copy of the tiles or a live log. Without a source, it verifies the log of the deployment together with all of its records. The exit code is 1 if anything is missing or was changed.',
    );
  addConnectionOptions(command);
  addExamples(command, [
    ['actlog log verify --key KEY --save seen', 'the deployment, and keep its state for the next time'],
    ['actlog log verify november.zip --key KEY', 'evidence of a period, offline'],
    ['actlog log verify november.jsonl --key KEY', 'an export, offline'],
    [
      'actlog log verify https://actlog.example.com/log/acme --policy trust.txt --earlier seen',
      'a live log without an API key, which must continue what was seen before',
    ],
  ]);
  command
    .optionsGroup('Trust:')
    .option('--key <key>', 'verifier key of the log, as GET /log/TENANT/key has it; repeatable', list)
    .option(
      '--policy <file>',
      'file in the format of C2SP tlog-policy, with the logs and witnesses you trust',
    )
    .optionsGroup('Compare:')
    .option(
      '--earlier <path>',
      'checkpoint, or folder of --save, that the log must continue; repeatable',
      list,
    )
    .option('--records <file>', 'records to compare with the log: a file of `actlog feed`')
    .option('--complete', 'the records are all that the log has, so that a missing one is an error')
    .option(
      '--seals',
      'check the seals of sessions: whether each event that a recorder sealed is in the record',
    )
    .option('--tenant <name>', 'tenant of the deployment', 'default')
    .option('--save <folder>', 'keep checkpoint and tiles there; the next time, the log must continue them')
    .option('--json', 'print the report as JSON')
    .action(verify);
}

async function verify(given: string | undefined, flags: Flags): Promise<void> {
  const log = await import('@actlog/log');
  const policy = policyOf(log, flags);
  const seals = flags.seals ? new SealedSessions(log) : undefined;
  const seen = (records: AsyncIterable<RecordToVerify>) => seals?.watch(records) ?? records;
  let report: LogReport;
  let archive: ArchiveReport | undefined;
  if (given !== undefined && isFile(given) && isArchive(given)) {
    archive = await verifyArchive(given, policy, seen);
    report = archive.evidence ?? nothingProven;
  } else if (given !== undefined && isFile(given)) {
    report = await log.verifyRecords(seen(recordsIn(given)), { policy });
  } else {
    const { source, records } = await sourceOf(log, given, flags);
    const saved = flags.save === undefined ? undefined : new log.LogFolder(flags.save);
    const earlier = await earlierLogs(log, [
      ...(flags.earlier ?? []),
      ...((await saved?.readCheckpoint()) === undefined ? [] : [flags.save as string]),
    ]);
    // One state of the log, however it grows meanwhile.
    const checkpoint = await reached(source.readCheckpoint());
    const fixed = { tiles: source.tiles, readCheckpoint: async () => checkpoint };
    const size = checkpoint === undefined ? 0 : sizeOf(log, checkpoint);
    report = await reached(
      log.verifyLog(fixed, {
        policy,
        earlier,
        ...(records ? { records: seen(records(size)) } : {}),
        isComplete: flags.complete ?? given === undefined,
      }),
    );
    if (saved && report.isProven && checkpoint !== undefined) {
      await copyTiles(log, fixed, saved, report.size);
      await saved.writeCheckpoint(checkpoint);
    }
  }
  const sealed = seals?.report();
  const found = archive?.findings ?? [];
  const isProven = report.isProven && found.length === 0;
  const all = { ...report, isProven, findings: [...found, ...report.findings] };
  const { manifest, policies } = archive ?? {};
  await print(
    flags.json
      ? JSON.stringify({ ...all, ...(manifest && { period: manifest.period, policies }), ...sealed })
      : reportText(all, sealed, archive),
  );
  if (!isProven || sealed?.hasGap) throw new ExitCodeError('', exitCodes.failed);
}

/** Report of an archive that was refused. */
const nothingProven: LogReport = {
  origin: undefined,
  size: 0,
  isProven: false,
  witnessed: [],
  records: 0,
  deleted: 0,
  findings: [],
  hasMoreFindings: false,
};

/** A report with the problems of an archive. */
type WholeReport = Omit<LogReport, 'findings'> & {
  readonly findings: readonly { readonly code: string; readonly message: string }[];
};

type LogModule = typeof import('@actlog/log');

/** Result of the check of all seals, as fields of the report. */
interface SealedReport {
  /** Number of events that seals name and the record has. */
  readonly sealed: number;
  /** Number of events that no seal names. */
  readonly unsealed: number;
  readonly sealFindings: readonly (SealReport['findings'][number] & { readonly sessionId: string })[];
  /** `true` if an event or a seal is missing or was changed. */
  readonly hasGap: boolean;
}

/** The events of sessions and their seals, among the records that are verified. */
class SealedSessions {
  readonly #log: LogModule;
  readonly #sessions = new Map<string, { readonly eventIds: string[]; readonly seals: SessionSeal[] }>();

  constructor(log: LogModule) {
    this.#log = log;
  }

  /** Passes records on, and remembers which events and seals are among them. */
  async *watch(records: AsyncIterable<RecordToVerify>): AsyncGenerator<RecordToVerify> {
    for await (const record of records) {
      if (record.kind === 'event') this.#add(record.id, record.row as Record<string, unknown>);
      yield record;
    }
  }

  #add(id: string, { sessionId, category, payload }: Record<string, unknown>): void {
    const key = String(sessionId);
    const session = this.#sessions.get(key) ?? { eventIds: [], seals: [] };
    this.#sessions.set(key, session);
    if (category !== sessionSealCategory) {
      session.eventIds.push(id);
      return;
    }
    try {
      session.seals.push(this.#log.parseSeal(payload));
    } catch (error) {
      // Anyone can send an event of this category; what is no seal seals nothing.
      if (!this.#log.LogError.is(error)) throw error;
    }
  }

  report(): SealedReport {
    const reports = [...this.#sessions].map(([sessionId, { eventIds, seals }]) => ({
      sessionId,
      ...this.#log.checkSeals(eventIds, seals),
    }));
    const sealFindings = reports.flatMap(({ sessionId, findings }) =>
      findings.map((finding) => ({ ...finding, sessionId })),
    );
    return {
      sealed: reports.reduce((sum, { sealed }) => sum + sealed, 0),
      unsealed: reports.reduce((sum, { unsealed }) => sum + unsealed.length, 0),
      sealFindings,
      hasGap: gapsIn(sealFindings) > 0,
    };
  }
}

function policyOf(
  { parsePolicy, trustPolicy, LogError }: LogModule,
  { key = [], policy }: Flags,
): TrustPolicy {
  if ((key.length === 0) === (policy === undefined)) {
    throw new UsageError(
      'Say whom you trust: --key with the verifier key of the log, or --policy with a file. Get the key once, as by GET /log/TENANT/key, and keep it: a key from the log itself proves nothing.',
    );
  }
  try {
    if (policy !== undefined) return parsePolicy(textOf(policy));
    if (key.length === 1) return trustPolicy(key[0] as string);
    return parsePolicy(`${key.map((one) => `log ${one}\n`).join('')}quorum none\n`);
  } catch (error) {
    if (LogError.is(error)) throw new UsageError(error.message);
    throw error;
  }
}

function isFile(path: string): boolean {
  if (/^https?:/.test(path)) return false;
  try {
    return statSync(path).isFile();
  } catch {
    throw new UsageError(
      `There is no file or folder "${path}"; give one, or the URL of a log that begins with https://.`,
    );
  }
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    throw new UsageError(`The file "${path}" cannot be read: ${(cause as Error).message}.`, { cause });
  }
}

interface Source {
  readonly source: LogSource;
  /** Returns the records, or those of a log of this size. */
  readonly records: ((size: number) => AsyncIterable<RecordToVerify>) | undefined;
}

async function sourceOf(
  { LogFolder, httpLog }: LogModule,
  given: string | undefined,
  flags: Flags,
): Promise<Source> {
  const file = flags.records;
  const records = file === undefined ? undefined : () => recordsIn(file);
  if (given !== undefined) {
    return { source: /^https?:/.test(given) ? httpLog(given) : new LogFolder(given), records };
  }
  const client = await connect(flags);
  const { readFeed } = await import('@actlog/client/server');
  return {
    source: httpLog(`${client.baseURL.replace(/\/$/, '')}/log/${encodeURIComponent(flags.tenant)}`, {
      headers: client.headers(),
    }),
    // Records after the checkpoint are proven the next time.
    records: records ?? ((size) => recordsBefore(size, readFeed(client))),
  };
}

async function* recordsBefore(
  size: number,
  records: AsyncIterable<RecordToVerify & { readonly index: number }>,
): AsyncGenerator<RecordToVerify> {
  for await (const record of records) {
    if (record.index >= size) return;
    yield record;
  }
}

/** Returns the size in a checkpoint; 0 if it cannot be read, which the report says. */
function sizeOf({ LogError, parseCheckpoint, parseNote }: LogModule, checkpoint: string): number {
  try {
    return parseCheckpoint(parseNote(checkpoint).text).size;
  } catch (error) {
    if (LogError.is(error)) return 0;
    throw error;
  }
}

async function* recordsIn(file: string): AsyncGenerator<RecordToVerify> {
  const lines = createInterface({
    input: createReadStream(file, 'utf8'),
    crlfDelay: Number.POSITIVE_INFINITY,
  });
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === '') continue;
    try {
      yield parseExactJson(line) as RecordToVerify;
    } catch (cause) {
      throw new UsageError(`Line ${number} of "${file}" is not JSON; the file was cut or changed.`, {
        cause,
      });
    }
  }
}

async function earlierLogs({ LogFolder }: LogModule, paths: readonly string[]): Promise<EarlierLog[]> {
  const earlier: EarlierLog[] = [];
  for (const path of new Set(paths)) {
    if (isFile(path)) {
      earlier.push({ checkpoint: textOf(path) });
      continue;
    }
    const folder = new LogFolder(path);
    const checkpoint = await folder.readCheckpoint();
    if (checkpoint === undefined) throw new UsageError(`The folder "${path}" has no checkpoint.`);
    earlier.push({ checkpoint, tiles: folder });
  }
  return earlier;
}

/** Gives an error of the network the exit code of a service that cannot be reached. */
async function reached<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof TypeError && error.message === 'fetch failed') {
      const { message } = (error.cause ?? error) as Error;
      throw new ExitCodeError(`The log cannot be reached: ${message}.`, exitCodes.unreachable, {
        cause: error,
      });
    }
    throw error;
  }
}

/** Copies the tiles of a log that was verified. */
async function copyTiles(
  { tileAt, tileWidth }: LogModule,
  { tiles }: LogSource,
  folder: InstanceType<LogModule['LogFolder']>,
  size: number,
): Promise<void> {
  for (const level of ['entries', 0, 1, 2, 3, 4, 5, 6] as const) {
    for (let index = 0; ; index += 1) {
      const tile = tileAt(level, index, size);
      if (!tile) break;
      if (tile.width === tileWidth && (await folder.readTile(tile))) continue;
      const bytes = await reached(tiles.readTile(tile));
      if (bytes) await folder.writeTiles([{ tile, bytes }]);
    }
  }
}

/** Returns a report in sentences. */
function reportText(
  report: WholeReport,
  seals: SealedReport | undefined,
  archive: ArchiveReport | undefined,
): string {
  const { origin, size, isProven, records, deleted, witnessed, findings, hasMoreFindings } = report;
  const lines: string[] = [];
  if (origin !== undefined) lines.push(`Log ${origin}, ${count(size, 'entry', 'entries')}.`);
  if (records > 0) {
    lines.push(`${count(records, 'record is', 'records are')} unchanged since the log signed them.`);
  }
  if (deleted > 0) lines.push(`${count(deleted, 'record was', 'records were')} deleted, as the log says.`);
  if (archive) lines.push(...archiveText(archive));
  const [first] = witnessed;
  for (const { size: until, time, witness } of witnessed) {
    lines.push(
      `Since ${localTime(new Date(time * 1000).toISOString())} ${witness} has vouched for the first ${count(until, 'entry', 'entries')}.`,
    );
  }
  if (!first && origin !== undefined) {
    lines.push(
      'No witness has cosigned this state: it proves order and content to you from now on, but not that they were always the same.',
    );
  }
  for (const { code, message } of findings) lines.push(`${code}: ${message}`);
  if (hasMoreFindings) lines.push('There are more findings than these.');
  if (seals) {
    const { sealed, unsealed, sealFindings } = seals;
    lines.push(
      `${count(sealed, 'event is', 'events are')} sealed and in the record, ${count(unsealed, 'has', 'have')} no seal.`,
    );
    for (const { code, sessionId, message } of sealFindings) {
      lines.push(`${code}: Session ${printable(sessionId)}: ${message}`);
    }
  }
  lines.push(
    isProven && !seals?.hasGap
      ? 'Proven.'
      : `NOT proven: ${count(findings.length + gapsIn(seals?.sealFindings ?? []), 'problem was', 'problems were')} found.`,
  );
  return lines.join('\n');
}

/** Returns what an archive proves, and what it does not, in sentences. */
function archiveText({ manifest, evidence, policies }: ArchiveReport): string[] {
  if (!manifest || !evidence) return [];
  const { since, until, first, last, agentId, sessionId } = manifest.period;
  const { isComplete, leftOut, beforeMs, afterMs } = evidence;
  const lines = [`Evidence of ${since} to ${until}, made ${manifest.createdAt} by ${manifest.tool}.`];
  const entries =
    last < first ? 'no entry' : first === last ? `entry ${first}` : `entries ${first} to ${last}`;
  const time = (ms: number | undefined) => (ms === undefined ? undefined : new Date(ms).toISOString());
  const before = time(beforeMs);
  const after = time(afterMs);
  const bounds = `${before ? `the record before is of ${before}` : 'the log begins with it'}, and ${after ? `the record after is of ${after}` : 'the log ends with it'}`;
  if (agentId !== null || sessionId !== null) {
    const filter = [
      ...(agentId === null ? [] : [`agent ${printable(agentId)}`]),
      ...(sessionId === null ? [] : [`session ${printable(sessionId)}`]),
    ].join(' and ');
    lines.push(
      `Filtered by ${filter}: each record is proven, but not that there are no others. ${count(leftOut, 'entry', 'entries')} of the period ${leftOut === 1 ? 'was' : 'were'} left out, and their hashes do not say whom they are about.`,
    );
  } else if (isComplete) {
    lines.push(
      `The period is complete: it has ${entries} of the log, and each is here or was deleted as the log says; ${bounds}.`,
    );
  }
  if (policies.all > 0) {
    lines.push(
      `${count(policies.all, 'version of a policy was', 'versions of policies were')} in force; ${policies.proven} of them ${policies.proven === 1 ? 'is' : 'are'} proven by a change in the log.`,
    );
  }
  return lines;
}

/** Returns how many findings are gaps: a recorder that was not closed is none. */
function gapsIn(findings: SealedReport['sealFindings']): number {
  return findings.filter(({ code }) => code !== 'not-closed').length;
}

function count(number: number, one: string, many: string): string {
  return `${number} ${number === 1 ? one : many}`;
}
