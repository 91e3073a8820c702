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
import { eventStreamType } from './client-response.ts';
import { ServerStreams, type Wait } from './server-streams.ts';
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
      this.#sessionId ??= textOf(response.headers['mcp-session-id']);
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
    this.#sessionId = textOf(response.headers['mcp-session-id']);
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
    return this.#sessionId === undefined ? {} : { 'mcp-session-id': this.#sessionId };
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
