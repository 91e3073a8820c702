import { EventStreamSplitter, eventStreamType } from './client-response.ts';
import type { Upstream } from './upstream.ts';

const sessionHeader = 'mcp-session-id';

/** Maximum time that messages wait for the stream of messages that the server starts, in milliseconds. */
const openMs = 1000;

/** Waits for a number of milliseconds. */
export type Wait = (
  ms: number,
  value: undefined,
  options: { readonly signal: AbortSignal },
) => Promise<unknown>;

/** Parts of the streams of a server. */
export interface ServerStreamsOptions {
  readonly upstream: Upstream;
  /** Aborted when the client is gone. */
  readonly closed: AbortSignal;
  /** Waits before a stream is resumed. */
  readonly wait: Wait;
  /** Returns the headers that each request of the session has. */
  headers(): Readonly<Record<string, string>>;
  /** Takes a message of the server, and removes its id from the open requests if it is a response. */
  take(message: Buffer, open: Set<string>): void;
}

/** Streams of a server's messages over Streamable HTTP, in one session. */
export class ServerStreams {
  readonly #options: ServerStreamsOptions;
  #isListening = false;

  constructor(options: ServerStreamsOptions) {
    this.#options = options;
  }

  /**
   * Reads the messages of a response, and returns the point from which its stream can be resumed.
   *
   * @param isComplete - `true` if the rest of a stream is not needed: some servers leave a resumed one open
   */
  async read(
    { headers, body }: Awaited<ReturnType<Upstream['send']>>,
    open: Set<string>,
    isComplete = () => false,
  ): Promise<StreamEnd> {
    const type = String(headers['content-type'] ?? '');
    if (!type.startsWith(eventStreamType)) {
      const bytes = Buffer.from(await body.arrayBuffer());
      if (type.startsWith('application/json') && bytes.length > 0) this.#options.take(bytes, open);
      return {};
    }
    const splitter = new EventStreamSplitter();
    let end: StreamEnd = {};
    try {
      for await (const chunk of body) {
        for (const { data, id, retryMs } of splitter.push(chunk as Buffer)) {
          end = { lastId: id ?? end.lastId, retryMs: retryMs ?? end.retryMs };
          if (data !== undefined) this.#options.take(Buffer.from(data), open);
        }
        if (isComplete()) break;
      }
    } catch (error) {
      if (this.#options.closed.aborted || end.lastId === undefined) throw error;
    }
    return end;
  }

  /** Resumes a stream until its requests have responses, or it cannot be resumed. */
  async follow(open: Set<string>, from: StreamEnd): Promise<void> {
    let end = from;
    while (open.size > 0 && end.lastId !== undefined) {
      await this.#waitToResume(end);
      const response = await this.#openStream(end.lastId);
      if (response.statusCode !== 200) {
        await response.body.dump();
        return;
      }
      end = laterEnd(end, await this.read(response, open, () => open.size === 0));
    }
  }

  /**
   * Opens the stream for messages that belong to no request, and resolves when it is open: a server may drop what it sends
   * before. One that responds with the first event only is not waited for.
   */
  async startListening(): Promise<void> {
    if (this.#isListening) return; // it goes on in a session that replaces the former
    const opened = Promise.withResolvers<void>();
    void this.#listen(opened.resolve);
    const { closed, wait } = this.#options;
    await Promise.race([opened.promise, wait(openMs, undefined, { signal: closed })]).catch(() => {});
  }

  /** Reads the stream for messages that belong to no request, if the server has one, until the end. */
  async #listen(opened: () => void): Promise<void> {
    let end: StreamEnd = {};
    this.#isListening = true;
    while (!this.#options.closed.aborted) {
      const session = this.#options.headers()[sessionHeader];
      try {
        const response = await this.#openStream(end.lastId).finally(opened);
        if (response.statusCode !== 200) {
          await response.body.dump();
          if (session === this.#options.headers()[sessionHeader]) break;
          end = {};
          continue;
        }
        end = laterEnd(end, await this.read(response, new Set()));
      } catch {
        // the connection is lost, or closed
      }
      await this.#waitToResume(end).catch(() => {});
    }
    this.#isListening = false;
  }

  async #waitToResume(end: StreamEnd): Promise<void> {
    const { closed, wait } = this.#options;
    await wait(resumeDelayMs(end), undefined, { signal: closed });
  }

  #openStream(lastId: string | undefined) {
    const { upstream, closed } = this.#options;
    const headers = {
      ...this.#options.headers(),
      accept: eventStreamType,
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    };
    return upstream.send({ method: 'GET', headers, signal: closed });
  }
}

/** Delay before a stream is resumed if the server requests none, in milliseconds. */
const defaultRetryMs = 1000;

/** Minimum delay before a stream is resumed, so that a server that ends each stream is not flooded, in milliseconds. */
const minRetryMs = 100;

/** Maximum delay before a stream is resumed, which is the maximum of a timer, in milliseconds. */
const maxRetryMs = 2 ** 31 - 1;

/** Point at which a stream of events ended. */
interface StreamEnd {
  /** Id of its last event; undefined if it cannot be resumed. */
  readonly lastId?: string | undefined;
  /** Delay that the server requests before the stream is resumed, in milliseconds. */
  readonly retryMs?: number | undefined;
}

/** Returns the later of two points, with the fields of the earlier that its part of the stream does not name. */
function laterEnd(before: StreamEnd, after: StreamEnd): StreamEnd {
  return { lastId: after.lastId ?? before.lastId, retryMs: after.retryMs ?? before.retryMs };
}

/**
 * Returns the delay before a stream is resumed, in milliseconds, which clients must respect (Model Context Protocol,
 * "Streamable HTTP"; SEP-1699). Default 1000, minimum 100.
 */
function resumeDelayMs({ retryMs = defaultRetryMs }: StreamEnd): number {
  return Math.min(Math.max(retryMs, minRetryMs), maxRetryMs);
}
