import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseCount } from '../options/numbers.ts';
import { printRecord } from '../output/print-record.ts';
import { printable } from '../output/printable.ts';
import { ProgressLine } from '../output/progress-line.ts';
import { Interruption } from '../terminal/interruption.ts';
import { addSessionFilterOptions, type SessionFilterFlags, sessionQuery } from './session-filter-options.ts';

interface Flags extends ClientFlags, SessionFilterFlags {
  readonly agent?: string;
  readonly session?: string;
  readonly concurrency: number;
}

/** Adds `sessions export`. */
export function addSessionsExport(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'export <file>',
    description:
      'export sessions with their events and risk to a file of JSON Lines, each verified; run it again to continue an interrupted export',
    examples: [
      ['actlog sessions export sessions.jsonl --since 7d', 'one session on each line'],
      ['actlog sessions export order.json --session order-4711', 'one session as one document'],
    ],
  });
  addSessionFilterOptions(command)
    .option('--agent <id>', 'only sessions in which this agent acted')
    .option('--session <id>', 'export this session alone')
    .option('--concurrency <number>', 'sessions to download at the same time', parseCount, 4)
    .action(async (file: string, flags: Flags) => {
      const interruption = new Interruption();
      const progress = new ProgressLine();
      try {
        const run = flags.session === undefined ? exportMany : exportOne;
        await run(file, flags, { progress, signal: interruption.signal });
      } catch (error) {
        progress.clear();
        const isPartial = flags.session === undefined;
        interruption.check(isPartial ? 'Interrupted: run the same command again to continue.' : undefined);
        throw error;
      } finally {
        progress.clear();
        interruption.close();
      }
    });
}

interface Run {
  readonly progress: ProgressLine;
  readonly signal: AbortSignal;
}

async function exportMany(file: string, flags: Flags, { progress, signal }: Run): Promise<void> {
  const client = await connect(flags);
  const { exportSessions } = await import('@actlog/client/scripts');
  const { agent: agentId, concurrency } = flags;
  const exported = await exportSessions(client, file, {
    query: { ...sessionQuery(flags), ...(agentId !== undefined && { agentId }) },
    concurrency,
    signal,
    onProgress: ({ sessionId, sessions, bytes }) =>
      progress.show(`${sessions} sessions, ${byteText(bytes)}  ${printable(sessionId)}`),
  });
  progress.clear();
  await printRecord(
    exported,
    [
      ['file', exported.path, 'bold'],
      ['sessions', exported.sessions],
      ['resumed', exported.resumed || undefined],
      ['deleted meanwhile', exported.missing || undefined],
      ['size', byteText(exported.bytes)],
    ],
    flags,
  );
}

async function exportOne(file: string, flags: Flags, { progress, signal }: Run): Promise<void> {
  const client = await connect(flags);
  const exported = await client.sessions.exportToFile(String(flags.session), file, {
    signal,
    onProgress: ({ bytes, events }) => progress.show(`${events} events, ${byteText(bytes)}`),
  });
  progress.clear();
  await printRecord(
    exported,
    [
      ['file', exported.path, 'bold'],
      ['events', exported.eventCount],
      ['size', byteText(exported.bytes)],
      ['verified', exported.verified ? 'yes' : 'no, the service sent no hash'],
      ['sha256', exported.contentSha256],
    ],
    flags,
  );
}

const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];

/** Returns a number of bytes for people, such as `1.4 MB`. */
function byteText(bytes: number): string {
  let amount = bytes;
  let unit = 0;
  while (amount >= 1000 && unit < units.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${unit === 0 ? amount : amount.toFixed(1)} ${units[unit]}`;
}
