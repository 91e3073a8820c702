import { setTimeout as delay } from 'node:timers/promises';
import {
  errorText,
  isResponse,
  keyOfId,
  lineOf,
  messagesOf,
  parseMessage,
  type RpcMessage,
  rpcErrors,
} from '../messages/json-rpc.ts';
import { EventStreamSplitter, eventStreamType } from './event-stream.ts';
import { headersOf } from './request-headers.ts';
import { laterEnd, resumeDelayMs, type StreamEnd } from './stream-end.ts';
import type { Upstream } from './upstream.ts';

/** Time that the server has to end the session, in milliseconds. */
const endMs = 1000;

/** Maximum time that messages wait for the stream of the server's own messages, in milliseconds. */
const openMs = 1000;

/** Messages that begin a session. */
const beginnings: ReadonlySet<unknown> = new Set(['initialize', 'notifications/initialized']);

/** Waits for a number of milliseconds. */
export type Wait = (
  ms: number,
  value: undefined,
  options: { readonly signal: AbortSignal },
) => Promise<unknown>;

/** Connection of one client with a server over Streamable HTTP: messages of both directions are lines. */
export class HttpServerConnection {
  readonly #upstream: Upstream;
  readonly #receive: (line: Buffer) => void;
  readonly #wait: Wait;
  readonly #closed = new AbortController();
  readonly #underway = new Set<Promise<void>>();
  #sessionId: string | undefined;
  #protocolVersion: string | undefined;
  /**
   * Messages wait for the response to `initialize`, which creates the session, and for the stream of the server's own
   * messages.
   */
  #ready: Promise<void> = Promise.resolve();

  /**
   * @param receive - receives each message of the server
   * @param wait - waits before a stream is resumed
   */
  constructor(upstream: Upstream, receive: (line: Buffer) => void, wait: Wait = delay) {
    this.#upstream = upstream;
    this.#receive = receive;
    this.#wait = wait;
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
      const response = await this.#upstream.send({
        method: 'POST',
        headers: {
          ...this.#common(),
          ...headersOf(messages[0] ?? {}, this.#protocolVersion),
          'content-type': 'application/json',
          accept: `application/json, ${eventStreamType}`,
        },
        body: Buffer.from(line.toString().trimEnd()),
        signal: this.#closed.signal,
      });
      this.#sessionId ??= textOf(response.headers['mcp-session-id']);
      const end = await this.#read(response, open);
      if (response.statusCode >= 400) problem = problemOf(response.statusCode);
      else await this.#follow(open, end);
      if (messages.some(({ method }) => method === 'notifications/initialized')) await this.#startListening();
    } catch (error) {
      if (this.#closed.signal.aborted) return;
      const { code = 'no response' } = error as NodeJS.ErrnoException;
      problem = `The MCP server could not be reached (${code}): Connection closed`;
    }
    for (const key of open)
      this.#receive(lineOf(errorText(ids.get(key), rpcErrors.connectionClosed, problem)));
  }

  /**
   * Reads the messages of a response, and returns the point from which its stream can be resumed.
   *
   * @param isComplete - `true` if the rest of a stream is not needed: some servers leave a resumed one open
   */
  async #read(
    { headers, body }: Awaited<ReturnType<Upstream['send']>>,
    open: Set<string>,
    isComplete = () => false,
  ): Promise<StreamEnd> {
    const type = textOf(headers['content-type']) ?? '';
    if (!type.startsWith(eventStreamType)) {
      const bytes = Buffer.from(await body.arrayBuffer());
      if (type.startsWith('application/json') && bytes.length > 0) this.#take(bytes, open);
      return {};
    }
    const splitter = new EventStreamSplitter();
    let end: StreamEnd = {};
    try {
      for await (const chunk of body) {
        for (const { data, id, retryMs } of splitter.push(chunk as Buffer)) {
          end = { lastId: id ?? end.lastId, retryMs: retryMs ?? end.retryMs };
          if (data !== undefined) this.#take(Buffer.from(data), open);
        }
        if (isComplete()) break;
      }
    } catch (error) {
      if (this.#closed.signal.aborted || end.lastId === undefined) throw error;
    }
    return end;
  }

  #take(bytes: Buffer, open: Set<string>): void {
    const value = parseMessage(bytes.toString());
    for (const message of messagesOf(value)) {
      const { protocolVersion } = (message.result ?? {}) as { readonly protocolVersion?: unknown };
      if (typeof protocolVersion === 'string') this.#protocolVersion = protocolVersion;
      if (isResponse(message)) open.delete(keyOfId(message.id));
    }
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

  /** Resumes a stream until its requests have responses, or it cannot be resumed. */
  async #follow(open: Set<string>, from: StreamEnd): Promise<void> {
    let end = from;
    while (open.size > 0 && end.lastId !== undefined) {
      await this.#waitToResume(end);
      const response = await this.#openStream(end.lastId);
      if (response.statusCode !== 200) {
        await response.body.dump();
        return;
      }
      end = laterEnd(end, await this.#read(response, open, () => open.size === 0));
    }
  }

  /**
   * Opens the stream for messages that belong to no request, and resolves when it is open: a server may drop what it sends
   * before. One that responds with the first event only is not waited for.
   */
  async #startListening(): Promise<void> {
    const opened = Promise.withResolvers<void>();
    void this.#listen(opened.resolve);
    const { signal } = this.#closed;
    await Promise.race([opened.promise, this.#wait(openMs, undefined, { signal })]).catch(() => {});
  }

  /** Reads the stream for messages that belong to no request, if the server has one, until the end. */
  async #listen(opened: () => void): Promise<void> {
    let end: StreamEnd = {};
    while (!this.#closed.signal.aborted) {
      try {
        const response = await this.#openStream(end.lastId).finally(opened);
        if (response.statusCode !== 200) {
          await response.body.dump();
          return;
        }
        end = laterEnd(end, await this.#read(response, new Set()));
      } catch {
        // the connection is lost, or closed
      }
      await this.#waitToResume(end).catch(() => {});
    }
  }

  async #waitToResume(end: StreamEnd): Promise<void> {
    await this.#wait(resumeDelayMs(end), undefined, { signal: this.#closed.signal });
  }

  #openStream(lastId: string | undefined) {
    const headers = {
      ...this.#common(),
      ...headersOf({}, this.#protocolVersion),
      accept: eventStreamType,
      ...(lastId === undefined ? {} : { 'last-event-id': lastId }),
    };
    return this.#upstream.send({ method: 'GET', headers, signal: this.#closed.signal });
  }

  #common(): Record<string, string> {
    return this.#sessionId === undefined ? {} : { 'mcp-session-id': this.#sessionId };
  }
}

function isRequest({ id, method }: RpcMessage): boolean {
  return id !== undefined && method !== undefined;
}

/** Names the status in the SDKs' words, from which the recorder takes it. */
function problemOf(status: number): string {
  const fix = status === 401 || status === 403 ? ' Pass its credentials with --header.' : '';
  return `Error POSTing to endpoint (HTTP ${status}): the MCP server rejected the request.${fix}`;
}

function textOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
