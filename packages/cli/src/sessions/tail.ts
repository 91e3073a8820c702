import { setTimeout as delay } from 'node:timers/promises';
import type { Actlog, Session, StoredEvent } from '@actlog/client';
import { type Command, Option } from 'commander';
import { type ClientFlags, clientCommand } from '../command/client-command.ts';
import { connect } from '../connection/connect.ts';
import { parseDuration } from '../options/duration.ts';
import { parseWholeNumber } from '../options/numbers.ts';
import { formatOf, jsonText } from '../output/format.ts';
import { note, print } from '../output/print.ts';
import { terminalWidth } from '../output/printable.ts';
import { type Column, Table } from '../output/table.ts';
import { untilInterrupted } from '../terminal/confirm.ts';
import { eventColumns, sessionColumns } from './session-columns.ts';

interface Flags extends ClientFlags {
  readonly agent?: string;
  readonly last: number;
  readonly interval: number;
}

/** Adds `sessions tail`. */
export function addSessionsTail(parent: Command): void {
  clientCommand(parent, {
    usage: 'tail [id]',
    description:
      'follow the events of a session as they arrive, or without an id the sessions of the tenant as they begin, until Ctrl+C; --json prints one value on each line, too',
    examples: [
      ['actlog sessions tail', 'each new session'],
      ['actlog sessions tail order-4711 --last 50', 'the last 50 events of a session, then each new one'],
    ],
  })
    .optionsGroup('Filters:')
    .option('--agent <id>', 'only sessions in which this agent acted; without a session id')
    .option('--last <number>', 'number of earlier events or sessions to print first', parseWholeNumber, 10)
    .addOption(
      new Option('--interval <duration>', 'delay between two requests')
        .argParser(parseDuration)
        .default(1000, '1s'),
    )
    .action(async (id: string | undefined, flags: Flags) => {
      const client = await connect(flags);
      if (id === undefined) {
        const follower = new SessionFollower(client, flags.agent);
        await follow((signal) => follower.read(signal), { columns: sessionColumns, flags, noun: 'sessions' });
      } else {
        const follower = new EventFollower(client, id);
        await follow((signal) => follower.read(signal), { columns: eventColumns, flags, noun: 'events' });
      }
    });
}

interface Following<Item> {
  readonly columns: readonly Column<Item>[];
  readonly flags: Flags;
  readonly noun: string;
}

/** Prints the last items that exist, then each new one until the user interrupts. */
async function follow<Item>(
  read: (signal: AbortSignal) => AsyncIterable<Item>,
  { columns, flags, noun }: Following<Item>,
): Promise<void> {
  await untilInterrupted(async ({ signal }) => {
    const isTable = formatOf(flags) === 'table';
    const table = new Table(columns, terminalWidth());
    const earlier = await lastOf(read(signal), flags.last);
    table.fit(earlier, { isStream: true });
    if (isTable) {
      await print(table.header());
      if (earlier.length === 0 && process.stderr.isTTY)
        note(`There are no ${noun} yet. Waiting for them; Ctrl+C ends it.`);
    }
    const show = (item: Item) => print(isTable ? table.line(item) : jsonText(item));
    for (const item of earlier) await show(item);
    for await (const item of poll(read, { signal, intervalMs: flags.interval })) await show(item);
  });
}

/** Returns the last items of a sequence, in constant memory. */
async function lastOf<Item>(items: AsyncIterable<Item>, count: number): Promise<Item[]> {
  const last: Item[] = [];
  for await (const item of items) {
    last.push(item);
    if (last.length > count) last.shift();
  }
  return last;
}

/** Time before now in which sessions may still appear, in milliseconds: clocks of agents differ, and events are late. */
const windowMs = 3_600_000;

/** Reads the sessions of a tenant, or of one agent, that earlier reads have not given. */
class SessionFollower {
  readonly #client: Actlog;
  readonly #agentId: string | undefined;
  /** Start time of the sessions that were given, by id. */
  readonly #seen = new Map<string, number>();

  constructor(client: Actlog, agentId: string | undefined) {
    this.#client = client;
    this.#agentId = agentId;
  }

  /** Gives the sessions that started in the last hour and that no earlier read gave, oldest first. */
  async *read(signal: AbortSignal): AsyncGenerator<Session, void> {
    const startMs = Date.now() - windowMs;
    const query = { limit: 200, startedAfter: new Date(startMs), agentId: this.#agentId };
    const unseen: Session[] = [];
    for await (const { items } of this.#client.sessions.list(query, { signal }).pages()) {
      const news = items.filter(({ id }) => !this.#seen.has(id));
      unseen.push(...news);
      // The newest come first, so the pages behind one without news have none either.
      if (news.length === 0) break;
    }
    for (const session of unseen.reverse()) {
      this.#seen.set(session.id, Date.parse(session.startedAt ?? '') || Date.now());
      yield session;
    }
    for (const [id, startedMs] of this.#seen) if (startedMs < startMs) this.#seen.delete(id);
  }
}

/**
 * Reads the events of a session that earlier reads have not given. Memory is bounded by one page: the position is the
 * cursor of the last page, so an event that arrives later but belongs on an earlier page is not given.
 */
class EventFollower {
  readonly #client: Actlog;
  readonly #id: string;
  #cursor: string | undefined;
  /** Events of the last page, which is read again. */
  #seen: ReadonlySet<string> = new Set();

  constructor(client: Actlog, id: string) {
    this.#client = client;
    this.#id = id;
  }

  /** Gives the events since the last read, oldest first. */
  async *read(signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    try {
      yield* this.#readFrom(this.#cursor, signal);
    } catch (error) {
      // The service accepts a cursor for a day. A quiet session outlives that.
      if ((error as { code?: unknown }).code !== 'VALIDATION_ERROR' || this.#cursor === undefined)
        throw error;
      yield* this.#readFrom(undefined, signal);
    }
  }

  /** @param from - cursor to start at; without one, the pages before the last known one are skipped */
  async *#readFrom(from: string | undefined, signal: AbortSignal): AsyncGenerator<StoredEvent, void> {
    let cursor = from;
    let isSkipping = from === undefined && this.#cursor !== undefined && this.#seen.size > 0;
    for (;;) {
      const query = { limit: 200, ...(cursor !== undefined && { cursor }) };
      const { items, nextCursor } = await this.#client.sessions.events(this.#id, query, { signal });
      const ids = items.map(({ eventId }) => String(eventId));
      if (isSkipping && ids.some((id) => this.#seen.has(id))) isSkipping = false;
      if (!isSkipping) {
        for (const event of items) if (!this.#seen.has(String(event.eventId))) yield event;
        this.#cursor = cursor;
        this.#seen = new Set(ids);
      }
      if (nextCursor === null || nextCursor === undefined) return;
      cursor = nextCursor;
    }
  }
}

/** Options of `poll`. */
interface PollOptions {
  /** Delay between two polls, in milliseconds. */
  readonly intervalMs: number;
  /** Ends the loop, without an error. */
  readonly signal: AbortSignal;
}

/** Fields of the client's errors, read by name. */
interface ServiceError {
  readonly code?: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Longest delay after failures, in milliseconds. */
const maxDelayMs = 30_000;

/**
 * Yields what each call of `read` yields, repeatedly, until the signal is aborted. A broken connection, 429 or 5xx is
 * reported once on standard error, and polling continues more slowly.
 *
 * @throws what `read` throws otherwise
 */
async function* poll<Item>(
  read: (signal: AbortSignal) => AsyncIterable<Item>,
  { intervalMs, signal }: PollOptions,
): AsyncGenerator<Item, void> {
  let failures = 0;
  while (!signal.aborted) {
    let delayMs = intervalMs;
    try {
      yield* read(signal);
      if (failures > 0) note('The service responds again.');
      failures = 0;
    } catch (error) {
      if (signal.aborted) return;
      if (!isTransient(error)) throw error;
      if (failures === 0) note(`${(error as Error).message} Trying again until it responds.`);
      failures += 1;
      const backoffMs = Math.min(intervalMs * 2 ** failures, maxDelayMs);
      delayMs = Math.max(backoffMs, (error as ServiceError).retryAfterMs ?? 0);
    }
    await delay(delayMs, undefined, { signal }).catch(() => {}); // aborted: the loop ends
  }
}

function isTransient(error: unknown): boolean {
  const { code, status = 0 } = (error ?? {}) as ServiceError;
  return code === 'CONNECTION_FAILED' || code === 'TIMEOUT' || status === 429 || status >= 500;
}
