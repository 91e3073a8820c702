import type { SessionDetail, StoredEvent } from '@actlog/client';
import type { Command } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { addLimitOption, type LimitFlags, pageSizeFor } from '../options/numbers.ts';
import { formatOf } from '../output/format.ts';
import { jsonText } from '../output/json-text.ts';
import { localTime } from '../output/local-time.ts';
import { print } from '../output/print.ts';
import { printList } from '../output/print-list.ts';
import { type Detail, printDetails } from '../output/print-record.ts';
import { riskStyle, riskText } from '../output/risk-style.ts';
import { eventColumns } from './event-columns.ts';

/** Adds `sessions show`. */
export function addSessionsShow(parent: Command): void {
  const command = clientCommand(parent, {
    usage: 'show <id>',
    description: 'show a session with its events, oldest first; --jsonl prints one event on each line',
    examples: [
      'actlog sessions show order-4711',
      ['actlog sessions show order-4711 --limit all --jsonl', 'every event, for a script'],
    ],
  });
  addLimitOption(command, 'events').action(async (id: string, flags: ClientFlags & LimitFlags) => {
    const client = await connect(flags);
    const events = client.sessions.events(id, { limit: pageSizeFor(flags.limit) });
    const format = formatOf(flags);
    if (format === 'jsonl') return printList(events, { columns: eventColumns, flags, noun: 'events' });
    const session = await client.sessions.get(id, { limit: 1 });
    if (format === 'json') return print(jsonText(await withEvents(session, events, flags.limit), 2));
    await printDetails(detailsOf(session));
    await print('');
    await printList(events, { columns: eventColumns, flags, noun: 'events' });
  });
}

async function withEvents(
  { nextCursor: _cursor, events: _events, ...session }: SessionDetail,
  events: { toArray(options: { limit?: number }): Promise<StoredEvent[]> },
  limit: number,
): Promise<object> {
  return { ...session, events: await events.toArray(Number.isFinite(limit) ? { limit } : {}) };
}

function detailsOf(session: SessionDetail): Detail[] {
  return [
    ['session', session.id, 'bold'],
    ['agent', session.agentIds?.join(', ') ?? session.agentId],
    ['started', localTime(session.startedAt)],
    ['last event', localTime(session.lastEventAt)],
    ['events', session.eventCount],
    ['errors', session.errorCount, session.errorCount ? 'red' : undefined],
    ['risk', riskText(session.risk), riskStyle(session.risk?.level)],
    ['tools', session.toolNames?.join(', ')],
  ];
}
