import type { Actlog, ItemSequence, StoredEvent } from '@actlog/client';
import {
  type Forwarding,
  type LegalHold,
  type LegalHoldDraft,
  type Overview,
  type OverviewInterval,
  parseExactJson,
  type RetentionInForce,
  type SessionMarks,
} from '@actlog/protocol';
import type { Query, RequestOptions } from '../request/request-options.ts';
import type { BodySink } from '../response/api-response.ts';
import { defaultLimit, serverList, timeText } from './server-list.ts';

/** A record in the order of the log. */
export interface FeedRecord {
  /** Position in the log, and the cursor of the feed. */
  readonly index: number;
  readonly kind: 'event' | 'decision' | 'approval' | 'audit' | 'deletion';
  readonly id: string;
  /** Base64 of the salt in the record's entry. Whoever has it and the row can prove what the entry stands for. */
  readonly salt: string;
  /** Fields of the record. Numbers that a double cannot hold keep their digits when they are serialized. */
  readonly row: Readonly<Record<string, unknown>>;
  /** Proof that the log has the entry (C2SP tlog-proof), if receipts were requested. */
  readonly proof?: string;
}

/** Part of the feed to read. */
export interface FeedRange {
  /** Index of the last record that the caller has. Default: none, so that all records are read. */
  readonly after?: number | undefined;
  /** Maximum number of records. Default: all. */
  readonly limit?: number | undefined;
  /** `true` to wait for further records until the caller stops. Default: `false`. */
  readonly follow?: boolean | undefined;
  /** `true` to get a receipt with each record, all for one checkpoint. Default: `false`. */
  readonly receipts?: boolean | undefined;
}

/** Seconds that one request waits for a record. */
const waitSeconds = 20;

/**
 * Reads what was recorded, in the order of the log: `GET /server/v1/feed`. To resume, pass the index of the last record
 * as `after`. Needs a key with the scope `read`; entries of the audit log are only for keys with all scopes.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { readFeed } from '@actlog/client/server';
 *
 * for await (const { index, kind, row } of readFeed(client, { after: 41 })) {
 *   console.log(index, kind, row);
 * }
 * ```
 */
export async function* readFeed(
  client: Actlog,
  { after, limit, follow = false, receipts = false }: FeedRange = {},
  options: RequestOptions = {},
): AsyncGenerator<FeedRecord, void, undefined> {
  let last = after;
  let left = limit ?? Number.POSITIVE_INFINITY;
  let isWaiting = false;
  while (left > 0) {
    const query = {
      after: last,
      limit: Number.isFinite(left) ? left : undefined,
      receipts: receipts || undefined,
      waitSeconds: isWaiting ? waitSeconds : undefined,
    };
    for await (const line of linesOf(client, '/server/v1/feed', query, options)) {
      const record = parseExactJson(line) as FeedRecord;
      // A request that was repeated begins again.
      if (last !== undefined && record.index <= last) continue;
      last = record.index;
      left -= 1;
      yield record;
    }
    if (!follow) return;
    isWaiting = true;
  }
}

/** Period of {@link readEvidence}. */
export interface EvidenceRange {
  /** Begin (inclusive): a date, or ISO 8601. */
  readonly since: Date | string;
  /** End (exclusive): a date, or ISO 8601. */
  readonly until: Date | string;
  /** Only records about this agent. */
  readonly agentId?: string | undefined;
  /** Only records of this session. */
  readonly sessionId?: string | undefined;
}

/** A line of {@link readEvidence}; `type` says what it is about. */
export type EvidenceLine = Readonly<Record<string, unknown>> & {
  readonly type: 'head' | 'record' | 'policy' | 'legalHold' | 'retention' | 'end';
};

/**
 * Reads what proves a period to an outsider: `GET /server/v1/evidence`. First a `head` with the checkpoint, then each
 * record with its receipt, and the policies, legal holds and retention in force. `actlog evidence` makes an archive of it.
 * Needs a key with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 * @throws Error When the response ends before its last line.
 */
export async function* readEvidence(
  client: Actlog,
  { since, until, agentId, sessionId }: EvidenceRange,
  options: RequestOptions = {},
): AsyncGenerator<EvidenceLine, void, undefined> {
  const query = { since: timeText(since), until: timeText(until), agentId, sessionId };
  let last: EvidenceLine['type'] | undefined;
  for await (const text of linesOf(client, '/server/v1/evidence', query, { maxRetries: 0, ...options })) {
    const line = parseExactJson(text) as EvidenceLine;
    last = line.type;
    yield line;
  }
  if (last !== 'end') throw new Error('The response of the service was cut; request the evidence again.');
}

/** Requests lines, and reads them at the pace of the consumer. */
async function* linesOf(
  client: Actlog,
  path: `/${string}`,
  query: Query,
  options: RequestOptions,
): AsyncGenerator<string, void, undefined> {
  const lines = new LineQueue();
  const stopping = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, stopping.signal]) : stopping.signal;
  const request = client
    .request('GET', path, { ...options, signal, query, openSink: () => lines.open() })
    .then(
      () => lines.end(),
      (error: unknown) => lines.end(error),
    );
  try {
    for (;;) {
      const some = await lines.take();
      if (!some) break;
      yield* some;
    }
  } finally {
    stopping.abort();
    lines.end();
    await request;
  }
}

/** Lines of a response, which pauses until those before were taken. */
class LineQueue {
  #lines: string[] = [];
  #isEnded = false;
  #error: unknown;
  #onChange = () => {};

  /** Returns the sink of a response. */
  open(): BodySink {
    const decoder = new TextDecoder();
    let rest = '';
    return {
      write: async (chunk) => {
        const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        this.#lines.push(...lines.filter((line) => line !== ''));
        this.#onChange();
        while (this.#lines.length > 0 && !this.#isEnded) await this.#change();
      },
    };
  }

  /** Ends the queue, with an error unless it has ended before. */
  end(error?: unknown): void {
    if (!this.#isEnded) this.#error = error;
    this.#isEnded = true;
    this.#onChange();
  }

  /** Returns the lines that have arrived, or `undefined` at the end. @throws the error of the request. */
  async take(): Promise<string[] | undefined> {
    while (this.#lines.length === 0 && !this.#isEnded) await this.#change();
    const lines = this.#lines;
    this.#lines = [];
    this.#onChange();
    if (lines.length > 0) return lines;
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  #change(): Promise<void> {
    const before = this.#onChange;
    return new Promise((resolve) => {
      this.#onChange = () => {
        this.#onChange = () => {};
        before();
        resolve();
      };
    });
  }
}

/** Filters of {@link searchEvents}. An event must pass all of them. */
export interface EventFilters {
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
  /** Only calls of this tool. */
  readonly toolName?: string | undefined;
  readonly category?: string | undefined;
  /**
   * Only tool calls with this outcome: `denied` for the `responseStatus` 403, `error` for any other of 400 or more, `ok`
   * for the rest.
   */
  readonly status?: 'ok' | 'error' | 'denied' | undefined;
  /** Only calls with arguments of this hash, such as `sha256:…`. */
  readonly argumentsHash?: string | undefined;
  /** Earliest time of an event (inclusive): a date, or ISO 8601. */
  readonly since?: Date | string | undefined;
  /** Time before which the event happened (exclusive): a date, or ISO 8601. */
  readonly until?: Date | string | undefined;
  /** Events in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Searches the events of all sessions, newest first: `GET /server/v1/events`. Pages are requested as they are needed.
 * Needs a key with the scope `read`.
 *
 * @throws ValidationError When no event can pass the filters, such as a `status` with another category than `tool_api`.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { searchEvents } from '@actlog/client/server';
 *
 * const since = new Date(Date.now() - 86_400_000);
 * for await (const { sessionId, payload } of searchEvents(client, { since, status: 'denied' })) {
 *   console.log(sessionId, payload.toolName);
 * }
 * ```
 */
export function searchEvents(
  client: Actlog,
  filters: EventFilters = {},
  options: RequestOptions = {},
): ItemSequence<StoredEvent> {
  const { since, until, limit = defaultLimit, ...rest } = filters;
  const query = { ...rest, limit, since: timeText(since), until: timeText(until) };
  return serverList(client, { path: '/server/v1/events', query }, options);
}

/** Filters of {@link listLegalHolds}. */
export interface LegalHoldFilters {
  /** `true` for holds in force, `false` for those that were released. Default: both. */
  readonly active?: boolean | undefined;
  /** Holds in one response, 1 to 200. Default: 200. */
  readonly limit?: number | undefined;
}

/**
 * Lists the legal holds, newest first: `GET /server/v1/legal-holds`. Pages are requested as they are needed. Needs a key
 * with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 */
export function listLegalHolds(
  client: Actlog,
  filters: LegalHoldFilters = {},
  options: RequestOptions = {},
): ItemSequence<LegalHold> {
  const query = { limit: defaultLimit, ...filters };
  return serverList(client, { path: '/server/v1/legal-holds', query }, options);
}

/**
 * Places a legal hold: `POST /server/v1/legal-holds`. Once it is placed, nothing that it covers is deleted, by anyone, until
 * it is released. A hold without a scope covers everything. Needs a key with every scope.
 *
 * @throws ValidationError When the name or a time is not valid, or there are too many holds.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { createLegalHold, releaseLegalHold } from '@actlog/client/server';
 *
 * const { id } = await createLegalHold(client, { name: 'Case 4711', agentId: 'billing' });
 * await releaseLegalHold(client, id);
 * ```
 */
export function createLegalHold(
  client: Actlog,
  hold: LegalHoldDraft,
  options: RequestOptions = {},
): Promise<LegalHold> {
  return client.request('POST', '/server/v1/legal-holds', { ...options, body: hold });
}

/**
 * Releases a legal hold: `POST /server/v1/legal-holds/:id/release`. Releasing it again returns the same. Needs a key with
 * every scope.
 *
 * @throws PermissionDeniedError When an operator has placed it, who alone releases it.
 * @throws NotFoundError When there is no such hold, or the service is not the actlog server.
 */
export function releaseLegalHold(
  client: Actlog,
  id: string,
  options: RequestOptions = {},
): Promise<LegalHold> {
  const path = `/server/v1/legal-holds/${encodeURIComponent(id)}/release` as const;
  return client.request('POST', path, options);
}

/**
 * Returns how long each class of records is kept: `GET /server/v1/retention`. Needs a key with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 */
export function getRetention(client: Actlog, options: RequestOptions = {}): Promise<RetentionInForce> {
  return client.request('GET', '/server/v1/retention', options);
}

/**
 * Returns how far the records of the tenant were forwarded to each destination: `GET /server/v1/forwarding`. Needs a key
 * with every scope.
 *
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 */
export function getForwarding(client: Actlog, options: RequestOptions = {}): Promise<Forwarding> {
  return client.request('GET', '/server/v1/forwarding', options);
}

/** Span of time of {@link getOverview}. */
export interface OverviewRange {
  /** Earliest time (inclusive): a date, or ISO 8601. Default: 24 hours before `until`. */
  readonly since?: Date | string | undefined;
  /** Latest time (exclusive): a date, or ISO 8601. Default: now. */
  readonly until?: Date | string | undefined;
  /** Length of a bucket of the series; at most 800 buckets fit in a response. Default: `hour`. */
  readonly interval?: OverviewInterval | undefined;
  /**
   * `true` if the riskiest sessions include those that a person handled and whose score has not risen since. Default:
   * false.
   */
  readonly handled?: boolean | undefined;
}

/**
 * Returns what happened in a span of time, and what needs attention: `GET /server/v1/overview`. Needs a key with the
 * scope `read`.
 *
 * @throws ValidationError When the span is empty, or has too many buckets.
 * @throws NotFoundError When the service is not the actlog server, or an older one.
 *
 * @example
 * ```ts
 * import { getOverview } from '@actlog/client/server';
 *
 * const since = new Date(Date.now() - 7 * 86_400_000);
 * const { totals, riskiestSessions } = await getOverview(client, { since });
 * console.log(totals.calls, totals.errors, totals.denials, riskiestSessions[0]?.id);
 * ```
 */
export function getOverview(
  client: Actlog,
  { since, until, interval, handled }: OverviewRange = {},
  options: RequestOptions = {},
): Promise<Overview> {
  const query = { since: timeText(since), until: timeText(until), interval, handled };
  return client.request<Overview>('GET', '/server/v1/overview', { ...options, query });
}

/**
 * Returns what stands out in all events of a session, with what the session did in one sentence:
 * `GET /server/v1/sessions/{id}/marks`. Its cost does not depend on the length of the session. Needs a key with the scope
 * `read`.
 *
 * @throws NotFoundError When the session does not exist, or the service is not the actlog server.
 *
 * @example
 * ```ts
 * import { getSessionMarks } from '@actlog/client/server';
 *
 * const { sentence, counts } = await getSessionMarks(client, 'order-4711');
 * console.log(sentence, counts.errors, counts.denials);
 * ```
 */
export function getSessionMarks(
  client: Actlog,
  sessionId: string,
  options: RequestOptions = {},
): Promise<SessionMarks> {
  return client.request<SessionMarks>(
    'GET',
    `/server/v1/sessions/${encodeURIComponent(sessionId)}/marks`,
    options,
  );
}
