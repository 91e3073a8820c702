import { setTimeout as delay } from 'node:timers/promises';
import {
  errorText,
  isResponse,
  keyOfId,
  lineOf,
  messagesOf,
  notificationText,
  parseMessage,
  type RpcMessage,
  rpcErrors,
} from '../messages/json-rpc.ts';
import { EventStreamSplitter, eventStreamType } from './client-response.ts';
import { headersOf, type Upstream } from './upstream.ts';

/** Time that the server has to end the session, in milliseconds. */
const endMs = 1000;

/** Messages that begin a session. */
const beginnings: ReadonlySet<unknown> = new Set(['initialize', 'notifications/initialized']);

/** Connection of one client with a server over Streamable HTTP: messages of both directions are lines. */
export class HttpServerConnection {
  readonly #upstream: Upstream;
  readonly #receive: (line: Buffer) => void;
  readonly #streams: ServerStreams;
  /** Reads responses that are not the client's. */
  readonly #renewals: ServerStreams;
  readonly #closed = new AbortController();
  readonly #underway = new Set<Promise<void>>();
  #sessionId: string | undefined;
  /** The client's `initialize`, with which a session that the server has forgotten is replaced. */
  #initialize: Buffer | undefined;
  #renewal: Promise<void> | undefined;
  #protocolVersion: string | undefined;
  /**
   * Messages wait for the response to `initialize`, which creates the session, and for the stream of messages that the
   * server starts.
   */
  #ready: Promise<void> = Promise.resolve();

  /**
   * @param receive - receives each message of the server
   * @param wait - waits before a stream is resumed
   */
  constructor(upstream: Upstream, receive: (line: Buffer) => void, wait: Wait = delay) {
    this.#upstream = upstream;
    this.#receive = receive;
    const options = {
      upstream,
      closed: this.#closed.signal,
      wait,
      headers: () => ({ ...this.#common(), ...headersOf({}, this.#protocolVersion) }),
    };
    this.#streams = new ServerStreams({ ...options, take: (message, open) => this.#take(message, open) });
    this.#renewals = new ServerStreams({ ...options, take: (message, open) => this.#note(message, open) });
  }

  /** Sends a message, or a batch. */
  send(line: Buffer): void {
    const messages = messagesOf(parseMessage(line.toString()));
    if (line.toString().trim() === '') return;
    const before = this.#ready;
    const sent = before.then(() => this.#post(line, messages));
    if (messages.some(({ method }) => beginnings.has(method))) this.#ready = sent;
    this.#underway.add(sent);
    void sent.finally(() => this.#underway.delete(sent));
  }

  /** Resolves when all requests so far have their responses. */
  async settled(): Promise<void> {
    await Promise.allSettled([...this.#underway]);
  }

  /** Ends the session (Model Context Protocol, "Session Management"), and all streams. */
  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#sessionId === undefined) return;
    const signal = AbortSignal.timeout(endMs);
    const response = await this.#upstream
      .send({ method: 'DELETE', headers: this.#common(), signal })
      .catch(() => undefined); // it may be gone, or keep its sessions
    await response?.body.dump().catch(() => {});
  }

  async #post(line: Buffer, messages: readonly RpcMessage[]): Promise<void> {
    const open = new Set(messages.filter(isRequest).map(({ id }) => keyOfId(id)));
    const ids = new Map(messages.filter(isRequest).map(({ id }) => [keyOfId(id), id]));
    let problem = 'The MCP server closed the stream before it responded: Connection closed';
    try {
      const isBeginning = messages.some(({ method }) => method === 'initialize');
      if (isBeginning && messages.length === 1) this.#initialize = line;
      const session = this.#sessionId;
      let response = await this.#request(line, messages[0]);
      if (response.statusCode === 404 && session !== undefined && !isBeginning) {
        await response.body.dump();
        await this.#renew(session);
        response = await this.#request(line, messages[0]);
      }
      this.#sessionId ??= textOf(response.headers[sessionHeader]);
      const end = await this.#streams.read(response, open);
      if (response.statusCode >= 400) problem = problemOf(response.statusCode);
      else await this.#streams.follow(open, end);
      if (messages.some(({ method }) => method === 'notifications/initialized'))
        await this.#streams.startListening();
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      const { code = 'no response' } = error as NodeJS.ErrnoException;
      problem = `The MCP server could not be reached (${code}): Connection closed`;
    }
    for (const key of open)
      this.#receive(lineOf(errorText(ids.get(key), rpcErrors.connectionClosed, problem)));
  }

  #request(line: Buffer, message: RpcMessage = {}) {
    return this.#upstream.send({
      method: 'POST',
      headers: {
        ...this.#common(),
        ...headersOf(message, this.#protocolVersion),
        'content-type': 'application/json',
        accept: `application/json, ${eventStreamType}`,
      },
      body: Buffer.from(line.toString().trimEnd()),
      signal: this.#closed.signal,
    });
  }

  /**
   * Replaces a session that the server has forgotten (Model Context Protocol, "Session Management"). Several messages may
   * find out at the same time.
   */
  async #renew(dead: string): Promise<void> {
    if (this.#sessionId === dead) {
      this.#sessionId = undefined;
      this.#renewal = this.#initializeAgain();
    }
    await this.#renewal;
  }

  /** Sends the client's `initialize` again; its response is not the client's. */
  async #initializeAgain(): Promise<void> {
    const line = this.#initialize;
    if (!line) return;
    this.#protocolVersion = undefined;
    const [initialize] = messagesOf(parseMessage(line.toString()));
    const response = await this.#request(line, initialize);
    this.#sessionId = textOf(response.headers[sessionHeader]);
    const open = new Set([keyOfId(initialize?.id)]);
    await this.#renewals.read(response, open, () => open.size === 0);
    const initialized = notificationText('notifications/initialized', undefined);
    await (await this.#request(Buffer.from(initialized))).body.dump();
    void this.#streams.startListening();
  }

  #note(bytes: Buffer, open: Set<string>): void {
    const value = parseMessage(bytes.toString());
    for (const message of messagesOf(value)) {
      const { protocolVersion } = (message.result ?? {}) as { readonly protocolVersion?: unknown };
      if (typeof protocolVersion === 'string') this.#protocolVersion = protocolVersion;
      if (isResponse(message)) open.delete(keyOfId(message.id));
    }
  }

  #take(bytes: Buffer, open: Set<string>): void {
    this.#note(bytes, open);
    // A message on several lines has line endings only between its tokens.
    this.#receive(
      lineOf(
        bytes
          .toString()
          .trimEnd()
          .replaceAll(/[\r\n]+/g, ' '),
      ),
    );
  }

  #common(): Record<string, string> {
    return this.#sessionId === undefined ? {} : { [sessionHeader]: this.#sessionId };
  }
}

function isRequest({ id, method }: RpcMessage): boolean {
  return id !== undefined && method !== undefined;
}

/** Describes the status in the words of the SDKs, which the recorder parses. */
function problemOf(status: number): string {
  const fix = status === 401 || status === 403 ? ' Pass its credentials with --header.' : '';
  return `Error POSTing to endpoint (HTTP ${status}): the MCP server rejected the request.${fix}`;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

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
interface ServerStreamsOptions {
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
class ServerStreams {
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
