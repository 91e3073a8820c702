import type { Actlog } from '@actlog/client';
import { parseExactJson } from '@actlog/protocol';
import type { Query, RequestOptions } from '../request/request-options.ts';
import type { BodySink } from '../response/api-response.ts';
import { timeText } from './server-list.ts';

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
